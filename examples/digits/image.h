/* A handwritten digit as test_set.h and train_set.h hold it. */
#ifndef DIGITS_IMAGE_H
#define DIGITS_IMAGE_H

#define IMAGE_SIDE   8
#define IMAGE_PIXELS (IMAGE_SIDE * IMAGE_SIDE)
#define IMAGE_FRAC   4 /* the network sees grey / 2^4 */

struct digits_image {
    unsigned char label;           /* 0 .. 9                              */
    char pixels[IMAGE_PIXELS + 1]; /* row by row, 17 greys: 0 .. 9, a .. g */
};

/* Grey level of one pixel, 0 (paper) to 16 (ink). */
static inline int image_grey(const struct digits_image *image, int pixel)
{
    char c = image->pixels[pixel];

    return c <= '9' ? c - '0' : c - 'a' + 10;
}

#endif
