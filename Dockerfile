# SPDX-License-Identifier: GPL-3.0-or-later
# The program in an image: docker build -t bucketlab . && docker run --rm -v "$PWD:/work" bucketlab run mine.yaml Its
# dependencies are installed by apt; the packages of libbucketing are made too.
FROM debian:12 AS build
WORKDIR /source
COPY . .
RUN ./setup.sh build packages
RUN cmake --preset debian && cmake --build --preset debian && cpack --preset debian

FROM debian:12-slim
COPY --from=build /source/build/packages/bucketlab_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/bucketlab_*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["bucketlab"]
