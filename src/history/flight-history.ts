import { printedFields, managersOf } from './change-fields.ts';
import { FlightReader, type RecordedChange } from './flight-reader.ts';
import { readTimeline } from './flight-timeline.ts';
import type { ChangeQuery, ChangedField, HistorySource, Moment, ObjectChange, RecordedObject, Timeline } from './history-source.ts';
import { filterOf } from './resource-choice.ts';

/** The history that a flight file has. */
export class FlightHistory implements HistorySource {
  readonly #path: string;
  #isCutOff = false;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Throws an Error of one line where it is no flight file. */
  static async open(path: string): Promise<FlightHistory> {
    await (await FlightReader.open(path)).close();
    return new FlightHistory(path);
  }

  get remark(): string | undefined {
    return this.#isCutOff ? 'The last part of the file is not whole: it is being recorded, or the recorder was killed.' : undefined;
  }

  async *changes({ fromMs = -Infinity, toMs = Infinity, follow, ...query }: ChangeQuery): AsyncGenerator<ObjectChange> {
    const reader = await FlightReader.open(this.#path);
    try {
      for await (const change of reader.changes({ ...filterOf(query), follow })) {
        if (change.timeMs > toMs) break;
        if (change.timeMs >= fromMs) yield objectChange(change);
      }
      this.#isCutOff = reader.isCutOff;
    } finally {
      await reader.close();
    }
  }

  async stateAt(moment: Moment, query: ChangeQuery): Promise<RecordedObject[]> {
    const { objects, close } = await this.timelineAt(moment);
    await close();
    const { resource: isWanted, key: isKeyWanted } = filterOf(query);
    return objects.filter(({ resource, key }) => isWanted!(resource) && isKeyWanted!(key));
  }

  async timelineAt(moment: Moment): Promise<Timeline> {
    const reader = await FlightReader.open(this.#path);
    try {
      return await readTimeline(reader, moment);
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  async endMs(): Promise<number> {
    const reader = await FlightReader.open(this.#path);
    try {
      for await (const _ of reader.changes({ resource: () => false }));
      if (reader.endMs === undefined) throw new Error('the recording has no changes yet');
      return reader.endMs;
    } finally {
      await reader.close();
    }
  }

  async close(): Promise<void> {}
}

/** What it changed is found out when somebody asks. */
function objectChange({ before, after, isInitial, ...change }: RecordedChange): ObjectChange {
  let fields: ChangedField[] | undefined;
  return {
    ...change,
    id: undefined,
    author: undefined,
    type: after === undefined ? 'deleted' : before !== undefined ? 'modified' : isInitial ? 'seen' : 'created',
    get fields() {
      return (fields ??= printedFields(before, after));
    },
    get managers() {
      return managersOf(before, after);
    },
    versions: () => Promise.resolve({ before, after }),
  };
}
