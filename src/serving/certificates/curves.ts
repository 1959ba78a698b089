/** y² = x³ - 3x + b over the numbers modulo p (FIPS 186, appendix D). */
interface Curve {
  p: bigint;
  b: bigint;
}

const CURVES: ReadonlyMap<number, Curve> = new Map([
  [224, { p: 2n ** 224n - 2n ** 96n + 1n, b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n }],
  [256, { p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n, b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn }],
  [
    384,
    {
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    521,
    {
      p: 2n ** 521n - 1n,
      b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
]);

/** Why two coordinates, big-endian, are no point of the curve of so many bits, in Go's words; undefined where they are. */
export function pointProblem(bits: number, coordinates: Buffer): string | undefined {
  const { p, b } = CURVES.get(bits)!;
  const size = Math.ceil(bits / 8);
  if (coordinates.length !== 2 * size) return `invalid P${bits} point encoding`;
  const x = BigInt(`0x${coordinates.toString('hex', 0, size)}`);
  const y = BigInt(`0x${coordinates.toString('hex', size)}`);
  if (x >= p || y >= p) return `invalid P${bits} element encoding`;
  return (y * y - (x * x * x - 3n * x + b)) % p === 0n ? undefined : `P${bits} point not on curve`;
}
