/* cmocka.h with what it wants included before it. */
#ifndef CMOCKA_ALL_H
#define CMOCKA_ALL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
