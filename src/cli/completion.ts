import { CommandError } from '../options/command-error.ts';
import { flagsByName } from '../options/flags/options.ts';

/** A command as completion knows it. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** Its help: the flags that stand in it are those it has. */
  readonly help: string;
  /** It takes the flags of a server too. */
  readonly takesServerFlags: boolean;
}

type Shell = (commands: readonly CompletedCommand[]) => string;

const SHELLS: Readonly<Record<string, Shell>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The script that a shell reads: `source <(binnacle completion bash)`. */
export function completionScript(args: readonly string[], commands: readonly CompletedCommand[]): string {
  const [shell, ...more] = args;
  if (shell === undefined || more.length > 0 || !Object.hasOwn(SHELLS, shell)) {
    throw new CommandError(
      `"binnacle completion" takes a shell, one of ${Object.keys(SHELLS).join(', ')}${shell === undefined ? '' : `, not ${args.join(' ')}`}`,
    );
  }
  return SHELLS[shell]!(commands);
}

export const completionHelp = (program: string): string => `Prints a script by which a shell completes commands and flags.

Usage:
  ${program} bash|zsh|fish

  source <(binnacle completion bash)                                  in ~/.bashrc
  source <(binnacle completion zsh)                                   in ~/.zshrc, after compinit
  binnacle completion fish > ~/.config/fish/completions/binnacle.fish
`;

function flagsOf({ help, takesServerFlags }: CompletedCommand): string[] {
  const own = Array.from(help.matchAll(/^ +(?:-\w, )?--([a-z][a-z0-9-]*)/gm), ([, name]) => name!);
  return [...new Set([...own, ...(takesServerFlags ? flagsByName.keys() : []), 'help'])].toSorted();
}

const dashed = (flags: readonly string[]): string => flags.map((flag) => `--${flag}`).join(' ');
const namesOf = (commands: readonly CompletedCommand[]): string => [...commands.map(({ name }) => name), 'help'].join(' ');
/** The summaries are ours, and have no backslash: a quote is all that needs care. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;

function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => `    ${command.name}) flags="${dashed(flagsOf(command))}" ;;`);
  return `_binnacle() {
  local current="\${COMP_WORDS[COMP_CWORD]}" flags=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "\${COMP_WORDS[1]}" = help ]; }; then
    COMPREPLY=($(compgen -W "${namesOf(commands)}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
  esac
}
complete -o default -F _binnacle binnacle
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`);
  const cases = commands.map((command) => `    ${command.name}) flags=(${dashed(flagsOf(command))}) ;;`);
  return `#compdef binnacle
_binnacle() {
  local -a commands flags
  commands=(
${described.join('\n')}
    'help:Show the help of a command'
  )
  if (( CURRENT == 2 )) || { (( CURRENT == 3 )) && [[ $words[2] == help ]]; }; then
    _describe command commands
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $flags
  else
    _files
  fi
}
compdef _binnacle binnacle
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const escaped = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap((command) => [
    `complete -c binnacle -n __fish_use_subcommand -f -a ${command.name} -d ${escaped(command.summary)}`,
    ...flagsOf(command).map((flag) => `complete -c binnacle -n '__fish_seen_subcommand_from ${command.name}' -l ${flag}`),
  ]);
  return `${lines.join('\n')}\ncomplete -c binnacle -n __fish_use_subcommand -f -a help -d 'Show the help of a command'\n`;
}
