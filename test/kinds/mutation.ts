import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';

/* What no client in its right mind sends: objects with one to three places broken, whatever their schema says. */

const LONG = 'x'.repeat(70_000);
const deeply = (depth: number, wrap: (inner: Json) => Json): Json => {
  let value: Json = null;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
};

const ODD_VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  2 ** 31,
  -(2 ** 31) - 1,
  9223372036854775807n,
  1e300,
  '',
  ' ',
  '-',
  '.',
  '..',
  '/',
  '0',
  '-1',
  '%',
  '*',
  '[',
  '(((((',
  '{{.x}}',
  '$(A)',
  '\u0000',
  '\u200b\ud83d\ude00',
  '\ud800',
  'constructor',
  '__proto__',
  '1e999999999',
  '99999999999999999999999999999999999Ei',
  '0.0.0.0/0',
  '::ffff:1.2.3.4/129',
  '9999-99-99T99:99:99Z',
  '*/0 * * * *',
  'self.' + 'a.'.repeat(200) + 'b',
  '('.repeat(500),
  '(a+)+'.repeat(20) + '!',
  LONG,
  [],
  {},
  [null],
  [{}],
  [[[]]],
  [1, 'a', null, {}],
  { '': '' },
  { constructor: { prototype: 1 } },
  { a: { b: { c: {} } } },
  Array.from({ length: 2000 }, (_, index) => index),
  Array.from({ length: 300 }, () => ({ name: 'a' })),
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'v'])),
  deeply(200, (inner) => [inner]),
  deeply(200, (inner) => ({ a: inner })),
];

/** Every place in the object, as its holder and key. */
function placesIn(value: Json, places: { holder: JsonObject | Json[]; key: string | number }[] = []): typeof places {
  if (Array.isArray(value)) {
    for (const [key, item] of value.entries()) {
      places.push({ holder: value, key });
      placesIn(item, places);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      places.push({ holder: value, key });
      placesIn(item as Json, places);
    }
  }
  return places;
}

/** Breaks the object, which stays a JSON object with its kind and version. */
export function mutate(object: JsonObject, random: Random): void {
  for (let changes = random.below(3); changes >= 0; changes--) mutateOnce(object, random);
}

function mutateOnce(object: JsonObject, random: Random): void {
  const places = placesIn(object).filter(({ holder, key }) => holder !== object || (key !== 'kind' && key !== 'apiVersion'));
  if (places.length === 0) return;
  const { holder, key } = random.pick(places);
  const at = holder as Record<string | number, Json>;
  const odd = structuredClone(random.pick(ODD_VALUES));
  switch (random.below(6)) {
    case 0:
      delete at[key];
      if (Array.isArray(holder)) holder.splice(0, holder.length, ...holder.filter((item) => item !== undefined));
      break;
    case 1:
      // The value of another place, which may hold what surrounds this one.
      at[key] = structuredClone(valueAt(random.pick(places)));
      break;
    case 2:
      if (Array.isArray(holder)) holder.push(structuredClone(holder[0]!), odd);
      else setOwn(holder, random.pick(['unknown', '__proto__', 'constructor', '', 'a.b/c', String(key).toUpperCase()]), odd);
      break;
    default:
      at[key] = odd;
  }
}

const valueAt = ({ holder, key }: { holder: JsonObject | Json[]; key: string | number }): Json => (holder as Record<string | number, Json>)[key]!;

const setOwn = (object: JsonObject, key: string, value: Json): void =>
  void Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
