/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the tables of the kernel's samplers, in the build: 256 layers of equal area for the exponential and
 * the normal distribution (Marsaglia and Tsang, 2000). Layer i holds the candidates x = j * width, j in [0,
 * 2^53), surely below the curve while j < accept. Edges are computed in 113 bits, so that every machine gets
 * the same tables. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#if LDBL_MANT_DIG >= 113
typedef long double real;
#else
__extension__ typedef __float128 real;
#endif
enum { LAYERS = 256, SQUARES = 12, TERMS = 20, FRACTIONS = 1000 };

static real exp_of(real x)
{
    real sum = 1, term = 1;
    for (int i = 1; i <= TERMS; i++)
        sum += term *= x / (1 << SQUARES) / i;
    for (int i = 0; i < SQUARES; i++)
        sum *= sum;
    return sum;
}

/* One step of Halley's method from the double. */
static real log_of(real x)
{
    const real near = log((double)x), power = exp_of(near);
    return near + 2 * (x - power) / (x + power);
}

static real root_of(real x)
{
    real root = sqrt((double)x);
    for (int i = 0; i < 2; i++)
        root = (root + x / root) / 2;
    return root;
}

static real height(bool is_normal, real x)
{
    return exp_of(is_normal ? -x * x / 2 : -x);
}

static real inverse(bool is_normal, real y)
{
    return is_normal ? root_of(-2 * log_of(y)) : -log_of(y);
}

/* The area beyond r; that of the normal distribution by its continued fraction (Laplace). */
static real tail(bool is_normal, real r)
{
    real fraction = r;
    for (int i = FRACTIONS; is_normal && i > 0; i--)
        fraction = r + i / fraction;
    return height(is_normal, r) / (is_normal ? fraction : 1);
}

/* Sets the outer edges for a tail that begins at r. False when r is too small: the layers fill the height
 * early. */
static bool walk(bool is_normal, real r, real edges[LAYERS + 1])
{
    const real area = r * height(is_normal, r) + tail(is_normal, r);
    edges[0] = area / height(is_normal, r);
    edges[1] = r;
    edges[LAYERS] = 0;
    for (int i = 1; i < LAYERS; i++) {
        const real y = height(is_normal, edges[i]) + area / edges[i];
        if (y >= 1)
            return false;
        if (i + 1 < LAYERS)
            edges[i + 1] = inverse(is_normal, y);
    }
    return true;
}

static void write_table(bool is_normal, const char *macro, const char *linkage, const char *name, real low,
                        real high)
{
    real edges[LAYERS + 1];
    for (real middle; middle = (low + high) / 2, low < middle && middle < high;)
        *(walk(is_normal, middle, edges) ? &high : &low) = middle;
    walk(is_normal, high, edges);
    printf("#define %s %a\n%sconst struct sim_layer %s[%d] = {\n", macro, (double)high, linkage, name,
           LAYERS);
    for (int i = 0; i < LAYERS; i++)
        printf("    {UINT64_C(%#018" PRIx64 "), %a, %a},\n",
               (uint64_t)(edges[i + 1] / edges[i] * (UINT64_C(1) << 53)),
               (double)(edges[i] / (UINT64_C(1) << 53)), i == 0 ? 0 : (double)height(is_normal, edges[i]));
    puts("};");
}

int main(void)
{
    write_table(false, "EXPONENTIAL_TAIL", "", "sim_exponential_layers", 7, 8);
    write_table(true, "NORMAL_TAIL", "static ", "normal_layers", 3, 4);
    return 0;
}
