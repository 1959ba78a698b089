import type { InstalledResource } from '../../registry/api-version.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { DocumentPart } from './document-text.ts';
import type { NamedType } from './schemas.ts';
import type { CustomPart, Section } from './sections.ts';
import type { OpenApiTypes, Route } from './routes.ts';

/** Makes the part of a document that some routes are. */
export interface PartMaker {
  /** Of one custom resource, without the types that it refers to. */
  custom(routes: readonly Route[]): SlicedWork<DocumentPart>;
  /** Of all else: built-in resources, and types that the others refer to. */
  builtIn(routes: readonly Route[], types: readonly NamedType[]): SlicedWork<DocumentPart>;
}

/** The parts of which the documents of one version of OpenAPI consist. Those of custom resources are kept as long as the resource is installed as it is. */
export class KeptParts {
  readonly #types: OpenApiTypes;
  readonly #byResource = new WeakMap<InstalledResource, DocumentPart>();
  /** Of a document with custom resources, which may change often: what stays the same when they do, with what it is about. */
  #builtIn: { about: readonly unknown[]; part: DocumentPart } | undefined;

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  /** Of all these sections, for one document. */
  *of(sections: readonly Section[], maker: PartMaker): SlicedWork<DocumentPart[]> {
    const custom: DocumentPart[] = [];
    for (const part of sections.flatMap((section) => section.custom ?? [])) custom.push(yield* this.#customPart(part, maker));
    const outside = [...new Set(custom.flatMap((part) => part.outside))];
    if (custom.length === 0 || sections.length === 1) return [yield* maker.builtIn(yield* this.#builtInRoutes(sections), outside), ...custom];
    const builtIn = yield* this.#keptBuiltIn(sections, maker);
    const defined = new Set(builtIn.definitions.map(([name]) => name));
    const missing = outside.filter(({ name }) => !defined.has(name));
    return [builtIn, ...(missing.length > 0 ? [yield* maker.builtIn([], missing)] : []), ...custom];
  }

  *#customPart({ resource, routes }: CustomPart, maker: PartMaker): SlicedWork<DocumentPart> {
    const known = this.#byResource.get(resource);
    if (known) return known;
    const part = yield* maker.custom(routes(this.#types));
    this.#byResource.set(resource, part);
    return part;
  }

  *#keptBuiltIn(sections: readonly Section[], maker: PartMaker): SlicedWork<DocumentPart> {
    const about = sections.filter(({ isCustom }) => isCustom !== true).flatMap(({ path, version }) => version ?? path);
    const known = this.#builtIn;
    if (known?.about.length === about.length && known.about.every((each, index) => each === about[index])) return known.part;
    const part = yield* maker.builtIn(yield* this.#builtInRoutes(sections), []);
    this.#builtIn = { about, part };
    return part;
  }

  *#builtInRoutes(sections: readonly Section[]): SlicedWork<Route[]> {
    const all: Route[] = [];
    for (const { routes, builtInRoutes = routes } of sections) {
      all.push(...builtInRoutes(this.#types));
      yield;
    }
    return all;
  }
}
