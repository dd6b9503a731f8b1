/* Is a command's time in proportion to its input?
 *
 *   measure SMALL BIG COMMAND...   '@' in COMMAND is the file; BIG is four
 *                                  times SMALL
 *   measure SECONDS FILE COMMAND...   no more than so much, however slow the
 *                                     machine: a bound for hangs
 *
 * Processor time and memory may grow ninefold: four for what is linear, room
 * for noise, and far from the sixteen of what is quadratic. What is too small
 * to be measured counts as FLOOR. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROWTH_MAX 9.0
#define FLOOR      0.02
#define MEMORY_MIN 8192.0 /* KiB */
#define TRIES      4

struct cost {
    double seconds, memory;
    int status;
};

static struct cost run(char **command, const char *file)
{
    struct rusage u;
    struct cost c;
    pid_t child = fork();
    int i, status;

    if (child == 0) {
        for (i = 0; command[i]; i++)
            if (strcmp(command[i], "@") == 0)
                command[i] = (char *)(size_t)file;
        if (!freopen("/dev/null", "w", stdout) ||
            !freopen("/dev/null", "w", stderr))
            _exit(99);
        execvp(command[0], command);
        _exit(99);
    }
    if (child < 0 || wait4(child, &status, 0, &u) != child)
        exit(2);
    c.seconds = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
                (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    c.memory = (double)u.ru_maxrss;
    c.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return c;
}

static void keep_least(struct cost *least, struct cost c)
{
    if (c.seconds < least->seconds)
        least->seconds = c.seconds;
    if (c.memory < least->memory)
        least->memory = c.memory;
    least->status = c.status;
}

static double above(double x, double floor)
{
    return x > floor ? x : floor;
}

int main(int argc, char **argv)
{
    struct cost small = {1e9, 1e9, 0}, big = {1e9, 1e9, 0};
    double limit, time = 0, memory = 0;
    int i;

    if (argc < 4)
        return 2;
    limit = strtod(argv[1], NULL);
    if (limit > 0) {
        big = run(argv + 3, argv[2]);
        printf("status %d, %.2f s, %.0f MiB\n", big.status, big.seconds,
               big.memory / 1024);
        return big.status > 4 || big.seconds > limit;
    }
    for (i = 0; i < TRIES; i++) {
        keep_least(&small, run(argv + 3, argv[1]));
        keep_least(&big, run(argv + 3, argv[2]));
        time = big.seconds / above(small.seconds, FLOOR);
        memory = big.memory / above(small.memory, MEMORY_MIN);
        if (time <= GROWTH_MAX && memory <= GROWTH_MAX)
            break;
    }
    printf("status %d, %.3f -> %.3f s: %.1f times; %.0f -> %.0f MiB: %.1f "
           "times\n",
           big.status, small.seconds, big.seconds, time, small.memory / 1024,
           big.memory / 1024, memory);
    return i == TRIES || big.status > 4;
}
