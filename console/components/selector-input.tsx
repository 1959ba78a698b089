import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { type Vocabulary, completeSelector } from '../selectors/completion.ts';

interface SelectorInputProps {
  label: string;
  placeholder: string;
  value: string;
  /** Asked for when somebody begins to write. */
  vocabulary: () => Vocabulary;
  onChange: (value: string) => void;
}

/** A selector, with what it could go on with below it (the combobox of the ARIA Authoring Practices). */
export function SelectorInput({ label, placeholder, value, vocabulary, onChange }: SelectorInputProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const draft = useSignal<string | undefined>(undefined);
  const isOpen = useSignal(false);
  const chosen = useSignal(-1);
  const words = useRef<Vocabulary>(new Map());
  const text = draft.value ?? value;
  const completions = isOpen.value ? completeSelector(text, words.current) : [];

  const commit = (): void => {
    isOpen.value = false;
    if (draft.value !== undefined) onChange(draft.value.trim());
    draft.value = undefined;
  };
  const take = (completion: string): void => {
    draft.value = completion;
    chosen.value = -1;
    // A key is followed by its values; a value ends the term.
    if (!completion.endsWith('=')) commit();
    else isOpen.value = true;
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const selected = completions[chosen.value];
    if (event.key === 'ArrowDown') chosen.value = Math.min(completions.length - 1, chosen.value + 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(-1, chosen.value - 1);
    else if (event.key === 'Enter' && selected) take(selected.text);
    else if (event.key === 'Enter') commit();
    else if (event.key === 'Tab' && completions.length > 0 && draft.value !== undefined) take((selected ?? completions[0]!).text);
    else if (event.key === 'Escape' && isOpen.value) isOpen.value = false;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="combobox">
      <input
        ref={input}
        role="combobox"
        aria-label={label}
        aria-expanded={completions.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen.value >= 0 ? `${id}-${chosen.value}` : undefined}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onFocus={() => {
          words.current = vocabulary();
          isOpen.value = true;
        }}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          isOpen.value = true;
          chosen.value = -1;
        }}
        onKeyDown={onKeyDown}
        onBlur={commit}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} hidden={completions.length === 0}>
        {completions.map((completion, index) => (
          <li
            key={completion.label}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onPointerDown={(event) => {
              event.preventDefault();
              take(completion.text);
            }}
          >
            {completion.label}
          </li>
        ))}
      </ul>
    </div>
  );
}
