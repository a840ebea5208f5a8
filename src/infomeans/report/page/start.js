// First show what needs no script, then run the page's.
requestAnimationFrame(() => setTimeout(() => {
  const script = document.createElement("script");
  script.textContent = document.getElementById("page").textContent;
  document.body.append(script);
}));
