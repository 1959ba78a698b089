/**
 * JSON as this server holds it in memory. Integers beyond 2^53 are `bigint`, so that they survive unchanged;
 * every other number is a `number`. Keys such as `__proto__` are data: they are always own properties.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json | undefined;
}
