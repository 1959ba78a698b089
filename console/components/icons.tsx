/* Small drawings, in the colour of the text beside them. */

interface IconProps {
  path: string;
}

const Icon = ({ path }: IconProps) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

export const MenuIcon = () => <Icon path="M2 4h12M2 8h12M2 12h12" />;
export const SunIcon = () => <Icon path="M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M3 13l1.4-1.4M11.6 4.4 13 3" />;
export const MoonIcon = () => <Icon path="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z" />;
export const CopyIcon = () => <Icon path="M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3" />;
export const SearchIcon = () => <Icon path="M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14" />;
export const ChevronIcon = () => <Icon path="M6 4l4 4-4 4" />;
export const CloseIcon = () => <Icon path="M4 4l8 8M12 4l-8 8" />;

/** A compass, as stands in a binnacle. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="12" r="10" />
    <path d="M16 8l-2.6 5.4L8 16l2.6-5.4z" />
  </svg>
);
