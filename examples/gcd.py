"""The greatest common divisor. gcd(12, 18) is right; gcd(4, 10) is not.

Debug one call: click "Neural Debug" above gcd, and type 4, 10.
"""


def gcd(a, b):
    """The greatest common divisor of two positive integers, by subtraction."""
    while a != b:
        if a > b:
            a = a - b
        else:
            a, b = b - a, b - a
    return a


def reduce_fraction(numerator, denominator):
    divisor = gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor


if __name__ == "__main__":
    print(reduce_fraction(12, 18))
    print(reduce_fraction(4, 10))
