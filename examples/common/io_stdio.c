/* Output on a host. */
#include "io.h"

#include <stdio.h>

void io_text(const char *text)
{
    fputs(text, stdout);
}
