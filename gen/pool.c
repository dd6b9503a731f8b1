/* A pool for the length of one call: a counter of items, a lock, a signal. */
#define _POSIX_C_SOURCE 200809L
#include "pool.h"

#include <pthread.h>
#include <time.h>

#define WORKERS_MAX 256u
#define TICK_NS     200000000L

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a worker has run out of items */
    size_t next, count, done;
    unsigned running, started;
    void (*work)(void *context, unsigned worker, size_t item);
    void *context;
};

static void work_off(struct pool *p, unsigned worker)
{
    for (;;) {
        size_t item;

        pthread_mutex_lock(&p->lock);
        item = p->next;
        if (item < p->count)
            p->next++;
        pthread_mutex_unlock(&p->lock);
        if (item >= p->count)
            return;
        p->work(p->context, worker, item);
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_mutex_unlock(&p->lock);
    }
}

static void *run(void *arg)
{
    struct pool *p = arg;
    unsigned worker;

    pthread_mutex_lock(&p->lock);
    worker = p->started++;
    pthread_mutex_unlock(&p->lock);
    work_off(p, worker);
    pthread_mutex_lock(&p->lock);
    p->running--;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Until all workers have ended. */
static void watch(struct pool *p, void (*tick)(void *context, size_t done))
{
    pthread_mutex_lock(&p->lock);
    while (p->running) {
        struct timespec until;
        size_t done;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&p->ended, &p->lock, &until);
        done = p->done;
        pthread_mutex_unlock(&p->lock);
        if (tick)
            tick(p->context, done);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    if (tick)
        tick(p->context, p->done); /* the workers may have been faster */
}

void qc_pool(unsigned threads, size_t count,
             void (*work)(void *context, unsigned worker, size_t item),
             void (*tick)(void *context, size_t done), void *context)
{
    struct pool p = {0};
    pthread_t id[WORKERS_MAX];
    unsigned n = 0, i;

    p.count = count;
    p.work = work;
    p.context = context;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.ended, NULL);
    if (threads > WORKERS_MAX)
        threads = WORKERS_MAX;
    if (threads > count)
        threads = (unsigned)count;
    if (threads > 1 || tick) {
        pthread_mutex_lock(&p.lock);
        while (n < threads && pthread_create(&id[n], NULL, run, &p) == 0)
            n++;
        p.running = n;
        pthread_mutex_unlock(&p.lock);
    }
    if (n)
        watch(&p, tick);
    else
        work_off(&p, 0);
    for (i = 0; i < n; i++)
        pthread_join(id[i], NULL);
    pthread_cond_destroy(&p.ended);
    pthread_mutex_destroy(&p.lock);
}
