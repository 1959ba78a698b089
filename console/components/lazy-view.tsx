import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

/** A view whose code is loaded when it is first shown. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyView(props: Props) {
    const component = useSignal(loaded);
    const hasFailed = useSignal(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          component.value = view;
        },
        () => (hasFailed.value = true),
      );
    }, []);
    const View = component.value;
    if (View !== undefined) return <View {...props} />;
    return hasFailed.value ? (
      <p class="notice" role="alert">
        The server has another version of this page now. Load it again.
      </p>
    ) : (
      <p class="loading">Loading…</p>
    );
  };
}
