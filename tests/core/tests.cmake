# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(core/hash_test LINK bucketing)
bucketlab_test(core/strategy_test LINK bucketing)
bucketlab_test(core/route_test LINK bucketing)
bucketlab_test(core/calendar_test LINK bucketing)
bucketlab_test(core/read_test LINK bucketing)
