interface CodeBadgeProps {
  code: number;
}

/** The code of an answer; bad ones are marked by more than a colour. */
export function CodeBadge({ code }: CodeBadgeProps) {
  const tone = code >= 500 ? 'bad' : code >= 400 ? 'waiting' : 'good';
  return <span class={`code ${tone}`}>{code === 0 ? '…' : code}</span>;
}
