import { type ReadonlySignal, signal } from '@preact/signals';

export type ThemeName = 'light' | 'dark';

export interface Theme {
  readonly name: ReadonlySignal<ThemeName>;
  toggle(): void;
}

const KEY = 'binnacle-theme';

/** Light or dark: what the person chose here before, or else what the system is set to. */
export function createTheme(window: Window): Theme {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const chosen = window.localStorage.getItem(KEY);
  const name = signal<ThemeName>(chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light');
  const apply = (): void => {
    window.document.documentElement.dataset['theme'] = name.value;
  };
  apply();
  system.addEventListener('change', ({ matches }) => {
    if (window.localStorage.getItem(KEY) !== null) return;
    name.value = matches ? 'dark' : 'light';
    apply();
  });
  return {
    name,
    toggle() {
      name.value = name.value === 'dark' ? 'light' : 'dark';
      window.localStorage.setItem(KEY, name.value);
      apply();
    },
  };
}
