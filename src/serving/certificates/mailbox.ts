/** An address of mail, `local@domain` (RFC 2821 §4.1.2). */
export interface Mailbox {
  local: string;
  domain: string;
}

// oxlint-disable-next-line no-control-regex -- what RFC 2821 allows within quotes
const QUOTED = /^"((?:[\x01-\x08\x0b\x0c\x0e-\x21\x23-\x5b\x5d-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*)"@/;
const ATOMS = /^((?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]|\\[^])+)@/;

/** As crypto/x509 reads an rfc822Name; undefined where it is none. */
export function parseMailbox(text: string): Mailbox | undefined {
  const match = (text.startsWith('"') ? QUOTED : ATOMS).exec(text);
  if (!match) return undefined;
  const local = match[1]!.replace(/\\([^])/g, '$1');
  if (!text.startsWith('"') && (local.startsWith('.') || local.endsWith('.') || local.includes('..'))) return undefined;
  const domain = text.slice(match[0].length);
  return domain === '' || isDomain(domain, false) ? { local, domain } : undefined;
}

const LABEL = /^[!-~]+$/;

/** Whether a text can be a domain's name in a certificate: labels of printable characters, none of them empty. A constraint may begin with a dot. */
export function isDomain(text: string, isConstraint: boolean): boolean {
  if (text === '') return true;
  const labels = isConstraint && text.startsWith('.') ? text.slice(1) : text;
  return labels.split('.').every((label) => LABEL.test(label));
}
