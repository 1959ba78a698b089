import { writeInt64Field, writeBoolField, writeMessageField, writeStringField } from '../../encoding/protobuf-fields.ts';
import { ProtobufWriter, WIRE_BYTES, tagOf } from '../../encoding/protobuf-wire.ts';

/** A place in the program. Frames that are equal in all of it are one function of the profile. */
export interface Frame {
  name: string;
  /** Empty for what has no file: native code, the garbage collector. */
  file?: string;
  /** From 1; 0 where it is not known. */
  line?: number;
  column?: number;
}

export interface ValueType {
  /** `cpu`, `inuse_space`. */
  type: string;
  /** `nanoseconds`, `bytes`, `count`. */
  unit: string;
}

interface ProfileSettings {
  sampleTypes: readonly ValueType[];
  periodType: ValueType;
  /** How much of `periodType` lies between two samples. */
  period: number;
  /** Wall clock. */
  timeMs: number;
  durationMs?: number;
  /** Shown by viewers, a line each. */
  comments?: readonly string[];
}

interface Sample {
  locationIds: readonly number[];
  values: number[];
  labels: readonly (readonly [string, string])[];
}

const NANOSECONDS_IN_MS = 1_000_000;

/**
 * A profile in pprof's own format (github.com/google/pprof/proto/profile.proto), which `go tool pprof` and every viewer of profiles read. Samples of one stack
 * with the same labels are added up.
 */
export class PprofProfile {
  readonly #settings: ProfileSettings;
  readonly #strings = new Map<string, number>([['', 0]]);
  /** By what tells them apart; ids are from 1, in the order of the map. */
  readonly #frames = new Map<string, Frame>();
  readonly #frameIds = new Map<string, number>();
  readonly #samples = new Map<string, Sample>();

  constructor(settings: ProfileSettings) {
    this.#settings = settings;
  }

  /** `stack` has the innermost frame first; `values` are in the order of the sample types. */
  add(stack: readonly Frame[], values: readonly number[], labels: readonly (readonly [string, string])[] = []): void {
    const locationIds = stack.map((frame) => this.#frameId(frame));
    const key = JSON.stringify([locationIds, labels]);
    const sample = this.#samples.get(key);
    if (sample) values.forEach((value, index) => (sample.values[index]! += value));
    else this.#samples.set(key, { locationIds, values: [...values], labels });
  }

  get sampleCount(): number {
    return this.#samples.size;
  }

  #frameId(frame: Frame): number {
    const key = `${frame.name}\n${frame.file ?? ''}\n${frame.line ?? 0}\n${frame.column ?? 0}`;
    const known = this.#frameIds.get(key);
    if (known !== undefined) return known;
    const id = this.#frames.size + 1;
    this.#frames.set(key, frame);
    this.#frameIds.set(key, id);
    return id;
  }

  #string(text: string): number {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    const index = this.#strings.size;
    this.#strings.set(text, index);
    return index;
  }

  /** The message, not yet compressed. Fields are written last first, and strings at the very end of it, when all are known. */
  encode(): Buffer {
    const { sampleTypes, periodType, period, timeMs, durationMs = 0, comments = [] } = this.#settings;
    const parts: Buffer[] = [];
    const part = (write: (writer: ProtobufWriter) => void): void => {
      const writer = new ProtobufWriter();
      write(writer);
      parts.push(writer.finish());
    };
    for (const type of sampleTypes) part((writer) => this.#writeValueType(writer, 1, type));
    for (const sample of this.#samples.values()) part((writer) => this.#writeSample(writer, sample));
    part((writer) => this.#writeMapping(writer));
    let id = 0;
    for (const frame of this.#frames.values()) {
      id++;
      const functionId = id;
      part((writer) => this.#writeFunction(writer, functionId, frame));
      part((writer) => this.#writeLocation(writer, functionId, frame));
    }
    part((writer) => {
      for (const comment of comments.toReversed()) writeInt64Field(writer, 13, this.#string(comment));
      writeInt64Field(writer, 12, period);
      this.#writeValueType(writer, 11, periodType);
      writeInt64Field(writer, 10, Math.round(durationMs * NANOSECONDS_IN_MS));
      writeInt64Field(writer, 9, BigInt(Math.round(timeMs)) * BigInt(NANOSECONDS_IN_MS));
    });
    for (const text of this.#strings.keys()) part((writer) => writeTableEntry(writer, text));
    return Buffer.concat(parts);
  }

  #writeValueType(writer: ProtobufWriter, field: number, { type, unit }: ValueType): void {
    writeMessageField(writer, field, () => {
      writeInt64Field(writer, 2, this.#string(unit));
      writeInt64Field(writer, 1, this.#string(type));
    });
  }

  #writeSample(writer: ProtobufWriter, { locationIds, values, labels }: Sample): void {
    writeMessageField(writer, 2, () => {
      for (const [key, value] of labels.toReversed()) {
        writeMessageField(writer, 3, () => {
          writeInt64Field(writer, 2, this.#string(value));
          writeInt64Field(writer, 1, this.#string(key));
        });
      }
      writePacked(writer, 2, values);
      writePacked(writer, 1, locationIds);
    });
  }

  /** One, which says that names and lines are all there: readers then look for no binary to find them in. */
  #writeMapping(writer: ProtobufWriter): void {
    writeMessageField(writer, 3, () => {
      writeBoolField(writer, 9, true);
      writeBoolField(writer, 8, true);
      writeBoolField(writer, 7, true);
      writeInt64Field(writer, 5, this.#string(process.argv[1] ?? process.execPath));
      writeInt64Field(writer, 1, 1);
    });
  }

  #writeFunction(writer: ProtobufWriter, id: number, { name, file = '', line = 0 }: Frame): void {
    writeMessageField(writer, 5, () => {
      writeInt64Field(writer, 5, line);
      writeInt64Field(writer, 4, this.#string(file));
      writeInt64Field(writer, 3, this.#string(name));
      writeInt64Field(writer, 2, this.#string(name));
      writeInt64Field(writer, 1, id);
    });
  }

  #writeLocation(writer: ProtobufWriter, id: number, { line = 0, column = 0 }: Frame): void {
    writeMessageField(writer, 4, () => {
      writeMessageField(writer, 4, () => {
        writeInt64Field(writer, 3, column);
        writeInt64Field(writer, 2, line);
        writeInt64Field(writer, 1, id);
      });
      writeInt64Field(writer, 2, 1);
      writeInt64Field(writer, 1, id);
    });
  }
}

function writePacked(writer: ProtobufWriter, field: number, values: readonly number[]): void {
  if (values.length === 0) return;
  const before = writer.size;
  for (const value of values.toReversed()) writer.int64(Math.round(value));
  writer.lengthSince(before);
  writer.varint(tagOf(field, WIRE_BYTES));
}

/** The first entry is the empty string, which must stand there. */
function writeTableEntry(writer: ProtobufWriter, text: string): void {
  if (text !== '') return writeStringField(writer, 6, text);
  writer.varint(0);
  writer.varint(tagOf(6, WIRE_BYTES));
}
