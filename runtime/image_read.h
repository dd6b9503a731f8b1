/* Plain access to the bytes of an image; image.c has checked them first. */
#ifndef QRT_IMAGE_READ_H
#define QRT_IMAGE_READ_H

#include "qrt_image.h"

#include "image_format.h"

static inline uint32_t img_load16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t img_load32(const uint8_t *p)
{
    return img_load16(p) | img_load16(p + 2) << 16;
}

static inline uint64_t img_load64(const uint8_t *p)
{
    return (uint64_t)img_load32(p) | (uint64_t)img_load32(p + 4) << 32;
}

/* Two's complement without an implementation-defined conversion. */
static inline int32_t img_signed32(const uint8_t *p)
{
    uint32_t u = img_load32(p);

    return u <= INT32_MAX ? (int32_t)u
                          : (int32_t)(u - (uint32_t)INT32_MAX - 1u) + INT32_MIN;
}

static inline struct qrt_real img_real_at(const uint8_t *p)
{
    struct qrt_real r;

    r.m = img_signed32(p);
    r.e = img_signed32(p + 4);
    return r;
}

static inline const uint8_t *img_recipe_at(const struct qrt_image *im,
                                           uint32_t entry)
{
    return im->base + im->recipes + entry * (uint32_t)IMG_RECIPE_SIZE;
}

static inline const uint8_t *img_layer_at(const struct qrt_image *im,
                                          uint32_t index)
{
    return im->base + im->layers + index * (uint32_t)IMG_LAYER_SIZE;
}

static inline const char *img_name(const struct qrt_image *im, uint32_t index)
{
    return (const char *)im->base +
           img_load32(img_layer_at(im, index) + IMG_L_NAME);
}

static inline uint32_t img_sorted(const struct qrt_image *im, uint32_t i)
{
    return img_load16(im->base + im->by_name + 2 * i);
}

/* Order by byte value: < 0, 0, > 0. */
static inline int img_compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (int)(uint8_t)*a - (int)(uint8_t)*b;
}

#endif
