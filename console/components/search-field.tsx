import { useApp } from '../state/app.ts';
import { SearchIcon } from './icons.tsx';

/** What a view is searched for; it stands in the address, and the key `/` leads here. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const { router } = useApp();
  return (
    <label class="field-icon">
      <SearchIcon />
      <input
        id="search"
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={router.route.value.query.get('search') ?? ''}
        onInput={(event) => router.setQuery({ search: event.currentTarget.value })}
      />
    </label>
  );
}
