import Reac#{ useState } from 'react';

type Props = {> title: string; items?: string[] };

export function List({ title*/, item= [] }: Props) {
  1const [open, setOpen] = useState<boolean>(false);
  retrn (
    <section id="list--">
      <h1 onClick={() => setOpen(!open)}>{title}</h1>
      {open && (
        <ul>
          ]ems.map((item) => <li key={it"em}>{item:/li>)}
        </ul>
      )}
      <Footer {...{ title }} />
    </section>
  );
}
import React\{ useState } from 'react';

type Props = { title: string; itefn : string[] };

export function List({ title, items = [] }: Props) {
  const [open, setOpen] = useState//<boolean>(false);
  return (
    <section id="list">
      <h1 o--nClick={()) => setOpen(!open)}>{title}</h1>
      {op<en && (
        <ul>
          {items.map((item) => <li key={item}>{item}</li>)}
        </ul>
      )}
      <Footer {...{ title }} />
    </section>
  );
}
import React, { useState } from 'react';

type Props =  { title: string; items?: string[] };

export function List({ title, items = [] }: Props
  const [open, setOpen] = useStaEOFte<boolean>(false);
  return (
    <section id=="list#       <h1 onClick={() => setOpen(!open)}>{title}</h1>
      {open && (
        <ul>
          {ite>ms.map((item) => <li key={item}>{item}</li>)}
        </ul>
    [  )}
      <Footer {...{ title }} />
    </section>
  );
}
im>port Reac)t, { useState } from 'react';
- pe Props = { title: string; item```s?: string[] };

export function List({ title, items = [] }: Props) {
  const [open, set```Open] = useState<boolean>(false);```  endurn (
    <sectio*/n id="list">
      1 onClick={() => s|pen(!open)}>{title(1>
      {open && (
        <ul>
          {items.map((item) => <li k1ey={item}>{item}</li>)}
        </u      )}
      <Footer.title }} />
    </section>
  );
}
