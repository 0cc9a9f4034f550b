export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;
export function el<K extends keyof HTMLElementTagNameMap>(name: K, attributes?: Attributes, ...children: Child[]): HTMLElementTagNameMap[K];
export function freshId(stem: string): string;
export function picker<V>(label: string, options: [V, string][], value: V, choose: (value: V) => void): HTMLElement;
export function segments<V>(label: string, options: [V, string][], value: V, choose: (value: V) => void): HTMLElement;
export function onWidth(box: HTMLElement, draw: (width: number) => void): void;
export function onScheme(draw: () => void): void;
export function note(text: string): HTMLElement;
