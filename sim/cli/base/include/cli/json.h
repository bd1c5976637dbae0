/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other name of cli/table.h. */
#include "cli/table.h"
