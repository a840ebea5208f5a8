// First show what needs no script, then run the scripts, of which one is large.
requestAnimationFrame(() => setTimeout(() => {
  for (const id of ["plotly", "page"]) {
    const script = document.createElement("script");
    script.textContent = document.getElementById(id).textContent;
    document.body.append(script);
  }
}));
