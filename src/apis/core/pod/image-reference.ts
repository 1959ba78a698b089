/** The grammar of image names (github.com/distribution/reference), as far as the choice of a pull policy needs it. */
const PATH_MAX_LENGTH = 255;
const DOMAIN = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const PATH_COMPONENT = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$/;
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
const IMAGE_MAX_LENGTH = 2_000;

/** `Always` for the newest image of a name, which is what no tag means too; what cannot be read is left to the kubelet. */
export const defaultPullPolicy = (image: string): string => (isLatest(image) ? 'Always' : 'IfNotPresent');

function isLatest(image: string): boolean {
  // A bare identifier is refused: it could be taken for a name.
  if (image.length > IMAGE_MAX_LENGTH || /^[a-f0-9]{64}$/.test(image)) return false;
  const at = image.indexOf('@');
  const digest = at < 0 ? undefined : image.slice(at + 1);
  const { domain, rest } = splitDomain(at < 0 ? image : image.slice(0, at));
  const colon = rest.indexOf(':');
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const isValid = isName(domain, path) && (tag === undefined || TAG.test(tag)) && (digest === undefined || DIGEST.test(digest));
  return isValid && (tag === 'latest' || (tag === undefined && digest === undefined));
}

/** What stands before the first slash is a registry if it looks like a host; else it is part of the path. */
function splitDomain(name: string): { domain: string | undefined; rest: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  return isHost ? { domain: first, rest: name.slice(slash + 1) } : { domain: undefined, rest: name };
}

function isName(domain: string | undefined, path: string): boolean {
  if (domain !== undefined && !DOMAIN.test(domain)) return false;
  return path.length <= PATH_MAX_LENGTH && path.split('/').every((component) => PATH_COMPONENT.test(component));
}
