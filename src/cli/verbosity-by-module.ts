/** --vmodule: `pattern=N,…`, of which the first that fits a module's name counts, as klog has it. What it answers where none fits is 0. */
export function verbosityByModule(flag: string): (module: string) => number {
  const rules = flag
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [pattern, level] = part.split('=') as [string, string];
      return { matches: globMatcher(pattern), level: Number(level) };
    });
  return (module) => rules.find(({ matches }) => matches(module))?.level ?? 0;
}

/** Go's filepath.Match, for names that have no slash in them. A pattern that is none fits nothing. */
function globMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replace(/\[\^?(?:\\.|[^\]\\])+\]|\\.|[^[\\]|[[\\]/gs, (part) => {
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    return part.length > 1 ? part : part.replace(/[.+^${}()|\\[\]]/, String.raw`\$&`);
  });
  try {
    const expression = new RegExp(`^${source}$`, 's');
    return (name) => expression.test(name);
  } catch {
    return () => false;
  }
}
