import type { FunctionDeclaration, Library, Overload, TypeProvider } from './declarations.ts';
import type { Macro } from './macro.ts';
import { STANDARD_MACROS } from './standard-macros.ts';
import { BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT, isSameType, type CelType } from './types.ts';

export interface EnvironmentOptions {
  /** The namespace in which names are looked up first: `a.b` finds `c` as `a.b.c`, `a.c` or `c`. */
  container?: string;
  /** Names may have dots. */
  variables?: Readonly<Record<string, CelType>>;
  libraries?: readonly Library[];
  types?: readonly TypeProvider[];
  /** Names in backquotes. Off in Kubernetes. */
  hasEscapedNames?: boolean;
  /** Whether `1 < 1.5` checks. On unless told. */
  hasMixedComparisons?: boolean;
  /** Whether literals of times, durations and patterns are looked into and lists and maps must be of one type, as Kubernetes asks. On unless told. */
  isStrict?: boolean;
  /** Whether constant parts are evaluated ahead, as Kubernetes does: they then cost nothing. On unless told. */
  isOptimized?: boolean;
}

const STANDARD_TYPES: readonly CelType[] = [BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT];

interface Names {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly types: ReadonlyMap<string, CelType>;
  readonly providers: readonly TypeProvider[];
}

/**
 * What expressions may speak of: variables with their types, functions, macros, types. Immutable; `extend` makes another one that shares what it
 * does not change, so that an environment for every schema costs little.
 */
export class Environment {
  readonly container: string;
  readonly hasOptionalSyntax: boolean;
  readonly hasEscapedNames: boolean;
  readonly hasMixedComparisons: boolean;
  readonly isStrict: boolean;
  readonly isOptimized: boolean;
  readonly #names: Names;

  constructor(options: EnvironmentOptions, base?: Environment) {
    const libraries = options.libraries ?? [];
    this.container = options.container ?? base?.container ?? '';
    this.hasOptionalSyntax = libraries.some((library) => library.hasOptionalSyntax) || (base?.hasOptionalSyntax ?? false);
    this.hasEscapedNames = options.hasEscapedNames ?? base?.hasEscapedNames ?? false;
    this.hasMixedComparisons = options.hasMixedComparisons ?? base?.hasMixedComparisons ?? true;
    this.isStrict = options.isStrict ?? base?.isStrict ?? true;
    this.isOptimized = options.isOptimized ?? base?.isOptimized ?? true;
    this.#names = extendNames(base === undefined ? STANDARD_NAMES : base.#names, options);
  }

  extend(options: EnvironmentOptions): Environment {
    return new Environment(options, this);
  }

  findVariable(name: string): CelType | undefined {
    return this.#names.variables.get(name);
  }

  findFunction(name: string): FunctionDeclaration | undefined {
    return this.#names.functions.get(name);
  }

  findMacro(name: string, argumentCount: number, isReceiver: boolean): Macro | undefined {
    return this.#names.macros.get(macroKey(name, argumentCount, isReceiver)) ?? this.#names.macros.get(macroKey(name, undefined, isReceiver));
  }

  /** The type of that name, from libraries or providers. */
  findType(name: string): CelType | undefined {
    return first(this.#names.providers, (provider) => provider.findType(name)) ?? this.#names.types.get(name);
  }

  findField(typeName: string, field: string): CelType | undefined {
    return first(this.#names.providers, (provider) => provider.findField(typeName, field));
  }

  /** Who makes values of that type. */
  providerOf(typeName: string): TypeProvider | undefined {
    return this.#names.providers.find((provider) => provider.findType(typeName) !== undefined);
  }

  /** All that a name may mean, the most specific first. */
  candidates(name: string): readonly string[] {
    if (name.startsWith('.')) return [name.slice(1)];
    if (this.container === '') return [name];
    const parts = this.container.split('.');
    return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join('.')}.${name}`), name];
  }
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) return result;
  }
  return undefined;
}

const named = (types: readonly CelType[]): Map<string, CelType> => new Map(types.map((type) => [type.name, type]));

const macroKey = (name: string, argumentCount: number | undefined, isReceiver: boolean): string => `${name}:${argumentCount ?? '*'}:${isReceiver}`;

const keyed = (macros: readonly Macro[]): Map<string, Macro> =>
  new Map(macros.map((macro) => [macroKey(macro.name, macro.argumentCount, macro.isReceiver), macro]));

const STANDARD_NAMES: Names = { variables: new Map(), functions: new Map(), macros: keyed(STANDARD_MACROS), types: named(STANDARD_TYPES), providers: [] };

function extendNames(base: Names, { variables = {}, libraries = [], types = [] }: EnvironmentOptions): Names {
  const names = { ...base, variables: new Map([...base.variables, ...Object.entries(variables)]), providers: [...types, ...base.providers] };
  if (libraries.length === 0) return names;
  return {
    ...names,
    functions: mergeFunctions(base.functions, libraries),
    macros: new Map([...base.macros, ...keyed(libraries.flatMap((library) => library.macros ?? []))]),
    types: new Map([...base.types, ...named(libraries.flatMap((library) => library.types ?? []))]),
  };
}

function mergeFunctions(base: ReadonlyMap<string, FunctionDeclaration>, libraries: readonly Library[]): ReadonlyMap<string, FunctionDeclaration> {
  const merged = new Map(base);
  for (const declaration of libraries.flatMap((library) => library.functions ?? [])) {
    const known = merged.get(declaration.name);
    merged.set(declaration.name, known === undefined ? declaration : { ...known, ...declaration, overloads: mergeOverloads(known, declaration.overloads) });
  }
  return merged;
}

/** Another declaration of a known signature replaces it where it stands. */
function mergeOverloads({ overloads }: FunctionDeclaration, more: readonly Overload[]): readonly Overload[] {
  const isReplaced = (known: Overload): Overload => more.find((one) => one.id === known.id) ?? known;
  const added = more.filter((one) => !overloads.some((known) => known.id === one.id));
  for (const one of added) {
    const clash = overloads.find((known) => isSameSignature(known, one));
    if (clash !== undefined) throw new Error(`overload ${one.id} has the signature of ${clash.id}`);
  }
  return [...overloads.map(isReplaced), ...added];
}

const isSameSignature = (a: Overload, b: Overload): boolean =>
  a.isMember === b.isMember && a.parameters.length === b.parameters.length && a.parameters.every((type, index) => isSameType(type, b.parameters[index]!));
