// SPDX-License-Identifier: MIT
module bucketlab.dev/bucketing

go 1.21
