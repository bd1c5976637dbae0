// SPDX-License-Identifier: GPL-3.0-or-later
// The exact distribution of the rows of a probabilistic partition, as in sim/tune/odds.c, but with doubles.
// Does not use the DOM.
//
// A row adds 1 with probability p = 2^-bits (bits from 0 to 32), and the partition ends with the row with
// which the sum reaches `threshold`, a whole number from 1 to 1,000,000. So all sizes are below 2^53 and are
// exact in doubles; p, 1 - p and n p are exact too. P(N > n) = P(Binomial(n, p) < threshold). The probability
// at an edge is computed by Loader's saddle-point form (Fast and Accurate Computation of Binomial
// Probabilities, 2000), and the tail beyond it as a sum of positive terms or an integral of a positive
// function. So there is no cancellation in either tail, down to the smallest double.
const bucketlabDistribution = (function () {
    "use strict";
    const EPSILON = Number.EPSILON;
    // Above this variance a tail is computed by an integral, because its sum would have more than about a
    // thousand terms.
    const SUM_VARIANCE_MAX = 1e4;
    // About the error of a tail. With this tolerance, a share that is exactly reached at a size is found at
    // that size.
    const TIE = 256 * EPSILON;

    function make(bits, threshold) {
        return { bits: bits, threshold: threshold, p: 2 ** -bits };
    }

    function mean(distribution) {
        return distribution.threshold / distribution.p;
    }

    function stddev(distribution) {
        return Math.sqrt(distribution.threshold * (1 - distribution.p)) / distribution.p;
    }

    function incrementsPer1000Rows(distribution) {
        return 1000 * distribution.p;
    }

    // P(N < rows) for a whole number of rows.
    function below(distribution, rows) {
        return rows <= distribution.threshold ? 0 : upper(rows - 1, distribution.threshold, distribution.p);
    }

    // P(N > rows) for a whole number of rows.
    function above(distribution, rows) {
        return rows < distribution.threshold ? 1 : lower(rows, distribution.threshold - 1, distribution.p);
    }

    // P(N = rows): the last row increments, those before it have threshold - 1 increments.
    function pmf(distribution, rows) {
        const { p, threshold } = distribution;
        return rows < threshold ? 0 : p * binomial(rows - 1, threshold - 1, p);
    }

    // The smallest n with P(N <= n) >= share, for 0 <= share < 1. Starting from a guess, an exponential
    // search finds an interval (low, high] that contains n; then bisection finds n.
    function quantile(distribution, share) {
        const least = distribution.threshold;
        if (reaches(distribution, least, share))
            return least;
        const guess = Math.max(least, Math.floor(guessQuantile(distribution, share)));
        let low = guess;
        let high = guess;
        let step = 1;
        if (reaches(distribution, guess, share)) {
            do {
                high = low;
                low = Math.max(least, low - step);
                step *= 2;
            } while (reaches(distribution, low, share));
        } else {
            do {
                low = high;
                high += step;
                step *= 2;
            } while (!reaches(distribution, high, share));
        }
        while (high - low > 1) {
            const middle = low + Math.floor((high - low) / 2);
            if (reaches(distribution, middle, share))
                high = middle;
            else
                low = middle;
        }
        return high;
    }

    // Uses the tail that keeps its precision: 1 - share is exact from 1/2 on.
    function reaches(distribution, rows, share) {
        if (share < 0.5)
            return below(distribution, rows + 1) >= share * (1 - TIE);
        return above(distribution, rows) <= (1 - share) * (1 + TIE);
    }

    // The Wilson-Hilferty approximation of a gamma distribution with the same mean and variance, as a
    // starting point only.
    function guessQuantile(distribution, share) {
        const relative = stddev(distribution) / mean(distribution);
        const root = 1 - relative * relative / 9 + normalQuantile(share) * relative / 3;
        return mean(distribution) * Math.max(root, 0) ** 3;
    }

    // Abramowitz and Stegun 26.2.23, with an error of at most 4.5e-4.
    function normalQuantile(share) {
        const tail = Math.min(share, 1 - share);
        if (tail <= 0)
            return 0;
        const t = Math.sqrt(-2 * Math.log(tail));
        const z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
            (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
        return share < 0.5 ? -z : z;
    }

    // P(X = k) for X ~ Binomial(n, p).
    function binomial(n, k, p) {
        if (k > n)
            return 0;
        if (p === 1)
            return k === n ? 1 : 0;
        if (k === 0)
            return Math.exp(n * Math.log1p(-p));
        if (k === n)
            return p ** n;
        const difference = k - n * p;
        const exponent = deviance(k, n * p, difference) + deviance(n - k, n * (1 - p), -difference);
        const stirling = gammaStar(n) / (gammaStar(k) * gammaStar(n - k));
        return stirling * Math.sqrt(n / k / (2 * Math.PI * (n - k))) * Math.exp(-exponent);
    }

    // P(X <= k) and P(X >= k): the smaller tail is computed directly, and the larger one as its complement.
    function lower(n, k, p) {
        if (k >= n)
            return 1;
        if (p === 1)
            return 0;
        return k - n * p < 0 ? tail(n, k, p, true) : 1 - tail(n, k + 1, p, false);
    }

    function upper(n, k, p) {
        if (k === 0)
            return 1;
        if (k > n)
            return 0;
        if (p === 1)
            return 1;
        return k - n * p > 0 ? tail(n, k, p, false) : 1 - tail(n, k - 1, p, true);
    }

    // mean ((1 + d) log(1 + d) - d) with d = difference / mean and value = mean + difference; never negative.
    function deviance(value, mean, difference) {
        const d = difference / mean;
        if (d > 0.5 || d < -0.5)
            return value * Math.log(value / mean) - difference;
        return mean * ((1 + d) * log1pMinus(d) + d * d);
    }

    // log(1 + d) - d. Near 0 as 2 atanh(r) - d, r = d / (2 + d), whose first terms leave -d r.
    function log1pMinus(d) {
        if (d > -0.01 && d < 0.01) {
            const r = d / (2 + d);
            const square = r * r;
            const rest = 1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square / 11)));
            return r * (2 * square * rest - d);
        }
        return Math.log1p(d) - d;
    }

    // k! = sqrt(2 pi k) (k / e)^k gammaStar(k), k >= 1: for small k from k! itself, then Stirling's series.
    function gammaStar(k) {
        if (k < 16) {
            let factorial = 1;
            for (let i = 2; i <= k; i++)
                factorial *= i;
            return factorial / (Math.sqrt(2 * Math.PI * k) * (k / Math.E) ** k);
        }
        const square = 1 / (k * k);
        return Math.exp((1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / k);
    }

    // P(X <= k) if `downwards`, otherwise P(X >= k); k must be on that side of the mean.
    function tail(n, k, p, downwards) {
        const edge = binomial(n, k, p);
        const q = 1 - p;
        if (edge === 0)
            return 0;
        if (n * p * q <= SUM_VARIANCE_MAX)
            return edge * (downwards ? sumDown(n, k, p) : sumUp(n, k, p));
        // P(X >= k) = I_p(k, n - k + 1) and P(X <= k) = I_q(n - k, k + 1). Each is computed as the value of
        // the integrand at the edge, times the integral of the integrand relative to that value.
        if (downwards)
            return edge * ((n - k) / q) * integral(n - k - 1, k, q, p, ((n - 1) * p - k) / (p * q));
        return edge * (k / p) * integral(k - 1, n - k, p, q, (k - 1 - (n - 1) * p) / (p * q));
    }

    // The ratio of consecutive terms decreases, so the sum of the terms after a term is at most that of a
    // geometric series.
    function sumDown(n, k, p) {
        const odds = (1 - p) / p;
        let sum = 1;
        let term = 1;
        for (let j = k; j > 0; j--) {
            const ratio = j / (n - j + 1) * odds;
            term *= ratio;
            sum += term;
            if (term * ratio < EPSILON / 8 * sum * (1 - ratio))
                break;
        }
        return sum;
    }

    function sumUp(n, k, p) {
        const odds = p / (1 - p);
        let sum = 1;
        let term = 1;
        for (let j = k; j < n; j++) {
            const ratio = (n - j) / (j + 1) * odds;
            term *= ratio;
            sum += term;
            if (term * ratio < EPSILON / 8 * sum * (1 - ratio))
                break;
        }
        return sum;
    }

    // The integral over s from 0 to x of (1 - s/x)^a (1 + s/y)^b by the double exponential rule of Takahasi
    // and Mori for a half-line, s = scale exp(v - exp(-v)). The linear parts of the two logarithms nearly
    // cancel; `slope` is their sum.
    function integral(a, b, x, y, slope) {
        const step = 1 / 8;
        const scale = 1 / (slope + Math.sqrt(a / (x * x) + b / (y * y)));
        let sum = 0;
        for (let i = -32; i <= 48; i++) {
            const v = i * step;
            const inner = Math.exp(-v);
            const s = scale * Math.exp(v - inner);
            const value = s >= x ? 0 :
                Math.exp(a * log1pMinus(-s / x) + b * log1pMinus(s / y) - slope * s) * s * (1 + inner);
            sum += value;
            if (i > 0 && value < EPSILON / 64 * sum)
                break;
        }
        return sum * step;
    }

    return {
        make: make,
        mean: mean,
        stddev: stddev,
        incrementsPer1000Rows: incrementsPer1000Rows,
        below: below,
        above: above,
        pmf: pmf,
        quantile: quantile,
        BITS_MAX: 32,
        THRESHOLD_MAX: 1e6,
    };
})();
