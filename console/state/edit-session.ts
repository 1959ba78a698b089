import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import type { ApiObject } from '../api/objects.ts';
import { isConflict } from '../api/status.ts';
import { type FieldChange, mergeThreeWay } from '../yaml/merge.ts';
import { objectText, parseObject } from '../yaml/object-text.ts';

/** What the server would make of the text. */
export interface Preview {
  before: string;
  after: string;
  warnings: readonly string[];
}

/** Somebody else was faster. */
export interface Conflict {
  /** What they made of the object since it was read here. */
  base: ApiObject;
  latest: ApiObject;
}

export const FIELD_MANAGER = 'binnacle-console';

/** One person's work on one object: text, what a dry run makes of it, and the write. For a new object, `base` is nothing. */
export class EditSession {
  readonly text = signal('');
  /** Counts how often the text was changed by others than the one who types. */
  readonly revision = signal(0);
  readonly isBusy = signal(false);
  readonly preview = signal<Preview | undefined>(undefined);
  readonly conflict = signal<Conflict | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  /** Fields that both changed, after the other's changes were taken over. */
  readonly overlaps = signal<readonly FieldChange[]>([]);
  readonly #client: Client;
  readonly path: string;
  #base: ApiObject | undefined;

  constructor(client: Client, path: string, base: ApiObject | undefined, text: string) {
    this.#client = client;
    this.path = path;
    this.#base = base;
    this.text.value = text;
  }

  get base(): ApiObject | undefined {
    return this.#base;
  }

  get method(): 'POST' | 'PUT' {
    return this.#base === undefined ? 'POST' : 'PUT';
  }

  edit(text: string): void {
    this.text.value = text;
    this.preview.value = undefined;
    this.error.value = undefined;
  }

  /** A dry run: everything is checked, nothing is stored. */
  review(): Promise<void> {
    return this.#run(async () => {
      const { object, warnings } = await this.#write(true);
      const before = this.#base === undefined ? '' : objectText(withoutStatusOfWrites(this.#base));
      this.preview.value = { before, after: objectText(withoutStatusOfWrites(object)), warnings };
    });
  }

  /** The object as it was stored; nothing where it was not. */
  async save(): Promise<ApiObject | undefined> {
    let saved: ApiObject | undefined;
    await this.#run(async () => {
      saved = (await this.#write(false)).object;
    });
    return saved;
  }

  /** Makes my changes to what the object has become. */
  takeOver(): void {
    const conflict = this.conflict.value;
    const mine = parseObject(this.text.value).object;
    if (conflict === undefined || mine === undefined) return;
    const { merged, conflicts } = mergeThreeWay(bare(conflict.base), bare(mine), bare(conflict.latest));
    const { metadata, ...rest } = merged as ApiObject;
    this.#base = conflict.latest;
    const { resourceVersion } = conflict.latest.metadata;
    this.text.value = objectText({ ...rest, metadata: { ...metadata, ...(resourceVersion !== undefined && { resourceVersion }) } });
    this.overlaps.value = conflicts;
    this.revision.value++;
    this.conflict.value = undefined;
    this.preview.value = undefined;
    this.error.value = undefined;
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.isBusy.value = true;
    this.error.value = undefined;
    try {
      await work();
    } catch (error) {
      this.preview.value = undefined;
      if (isConflict(error) && this.#base !== undefined) {
        this.conflict.value = { base: this.#base, latest: await this.#client.json<ApiObject>(this.path) };
      } else this.error.value = error;
    } finally {
      this.isBusy.value = false;
    }
  }

  async #write(isDryRun: boolean): Promise<{ object: ApiObject; warnings: string[] }> {
    const { object, error } = parseObject(this.text.value);
    if (object === undefined) throw new Error(`Line ${error!.line}: ${error!.message}`);
    const query = { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict', dryRun: isDryRun ? 'All' : undefined };
    const response = await this.#client.request(this.path, { method: this.method, query, body: object });
    return { object: (await response.json()) as ApiObject, warnings: warningsOf(response.headers.get('Warning')) };
  }
}

/** Fields that each write changes by itself say nothing in a diff. */
function withoutStatusOfWrites(object: ApiObject): ApiObject {
  const { resourceVersion: _, generation: __, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as ApiObject['metadata'] };
}

/** What two people can both have changed. */
function bare(object: ApiObject): unknown {
  const { managedFields: _, resourceVersion: __, generation: ___, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** `299 - "text"`, several with commas between them (RFC 9110 §5.3, RFC 7234 §5.5). */
export const warningsOf = (header: string | null): string[] =>
  [...(header ?? '').matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replaceAll(/\\(.)/g, '$1'));
