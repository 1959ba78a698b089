import { DerError, readChildren, readOid, readText, readValue } from '../encoding/der.ts';
import { pemBlocks } from '../encoding/pem.ts';

/** All values of one type (its OID) in the subject of a CertificateSigningRequest's request. What `unreadable` makes is thrown where it cannot be read. */
export function requestSubject(request: string | null, type: string, unreadable: (why: string) => Error): string[] {
  try {
    return subjectValues(Buffer.from(request ?? '', 'base64').toString('latin1'), type);
  } catch (error) {
    if (error instanceof DerError) throw unreadable(error.message);
    throw error;
  }
}

/** In a request's SEQUENCE { SEQUENCE { version, subject, … }, … } the subject is a list of sets of pairs: a type and its value. */
function subjectValues(pem: string, type: string): string[] {
  const block = pemBlocks(pem).next().value;
  const [content] = block ? readChildren(readValue(block.bytes).content) : [];
  const [, subject] = content ? readChildren(content.content) : [];
  const pairs = subject ? readChildren(subject.content).flatMap((set) => readChildren(set.content)) : [];
  return pairs.flatMap((pair) => {
    const [name, value] = readChildren(pair.content);
    return name && value && readOid(name) === type ? [readText(value) ?? ''] : [];
  });
}
