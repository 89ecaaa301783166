// The form of an expression: groups (all of, any of) of predicates and groups, each of which can be negated.
// An expression is nested lists, as in REST: ["and", ["temperature", ">", 25], ["not", ["occupied", "=", true]]].

const CONNECTIVES = new Set(["and", "or"]);

function make(tag, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

// A constant as in the text form: a number, true, false, or text; quotes keep text that looks like one of them.
export function constantOf(text) {
  const typed = text.trim();
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(typed)) return Number(typed);
  if (typed === "true" || typed === "false") return typed === "true";
  if (/^".*"$/.test(typed)) { try { return JSON.parse(typed); } catch { return typed; } }
  return typed;
}

export function textOf(constant) {
  if (typeof constant !== "string") return String(constant);
  return typeof constantOf(constant) === "string" && constantOf(constant) === constant ? constant : JSON.stringify(constant);
}

export class Conditions {
  constructor(element, language, onChange) {
    this.element = element;
    this.operators = new Map(language.operators.map(([name, words, fewest, most]) => [name, { words, fewest, most }]));
    this.onChange = onChange;
    element.addEventListener("input", () => onChange());
    element.addEventListener("change", (event) => { if (event.target.matches("[data-operator]")) this.#fitConstants(event.target.closest(".condition")); });
  }

  show(expression) { this.element.replaceChildren(this.#group(expression, true)); }

  read() { return this.#readGroup(this.element.firstElementChild); }

  get isComplete() { return [...this.element.querySelectorAll(".condition input[data-name], .condition input[data-constants]:not([hidden])")].every((input) => input.value.trim()); }

  #group(expression, isFirst = false, isNegated = false) {
    const [head, ...parts] = CONNECTIVES.has(expression[0]) ? expression : ["and", expression];
    const word = make("select", { className: "form-select", ariaLabel: "How these conditions combine" });
    for (const [value, text] of [["and", "all of these hold"], ["or", "any of these holds"]]) word.append(make("option", { value, textContent: text }));
    word.value = head;
    const bar = make("div", { className: "condition-head" }, word);
    if (!isFirst) bar.prepend(this.#not(isNegated));
    const list = make("div", { className: "condition-parts" }, ...parts.map((part) => this.#part(part)));
    const add = (text, made) => {
      const button = make("button", { type: "button", className: "btn btn-plain btn-sm", textContent: text });
      button.addEventListener("click", () => { const one = made(); list.append(one); one.querySelector("input[data-name], select")?.focus(); this.onChange(); });
      return button;
    };
    bar.append(add("Add a condition", () => this.#predicate(["", "="])), add("Add a group", () => this.#group(["or"])));
    const group = make("div", { className: "condition-group" }, bar, list);
    if (!isFirst) bar.append(this.#remove(group, "Remove this group"));
    return group;
  }

  #part(part) {
    let isNegated = false;
    while (part[0] === "not") { isNegated = !isNegated; part = part[1]; }
    return CONNECTIVES.has(part[0]) ? this.#group(part, false, isNegated) : this.#predicate(part, isNegated);
  }

  #predicate([name, operator, ...constants], isNegated = false) {
    const row = make("div", { className: "condition" });
    const named = make("input", { className: "form-control", value: name, placeholder: "parameter", ariaLabel: "Parameter", autocomplete: "off", spellcheck: false });
    named.dataset.name = "";
    const select = make("select", { className: "form-select", ariaLabel: "Operator" });
    select.dataset.operator = "";
    for (const [value, { words }] of this.operators) select.append(make("option", { value, textContent: words }));
    select.value = operator;
    const values = make("input", { className: "form-control", value: constants.map(textOf).join(", "), ariaLabel: "Value", autocomplete: "off", spellcheck: false });
    values.dataset.constants = "";
    row.append(this.#not(isNegated), named, select, values, this.#remove(row, "Remove this condition"));
    this.#fitConstants(row);
    return row;
  }

  #fitConstants(row) {
    const { most } = this.operators.get(row.querySelector("[data-operator]").value);
    const input = row.querySelector("[data-constants]");
    input.hidden = most === 0;
    input.placeholder = most === 1 ? "value" : most === 2 ? "from, to" : "value, value, …";
  }

  #not(isNegated) {
    const box = make("input", { type: "checkbox", checked: isNegated });
    box.dataset.not = "";
    return make("label", {}, box, "not");
  }

  #remove(element, label) {
    const button = make("button", { type: "button", className: "btn btn-plain btn-sm", textContent: "×", ariaLabel: label });
    button.addEventListener("click", () => { element.remove(); this.onChange(); });
    return button;
  }

  #readGroup(group) {
    const [bar, list] = group.children;
    return [bar.querySelector("select").value, ...[...list.children].map((part) => this.#readPart(part))];
  }

  #readPart(part) {
    const isGroup = part.matches(".condition-group");
    const read = isGroup ? this.#readGroup(part) : this.#readPredicate(part);
    return (isGroup ? part.firstElementChild : part).querySelector(":scope > label > [data-not]").checked ? ["not", read] : read;
  }

  #readPredicate(row) {
    const operator = row.querySelector("[data-operator]").value;
    const { most } = this.operators.get(operator);
    const text = row.querySelector("[data-constants]").value;
    const constants = most === 0 ? [] : most === 1 ? [constantOf(text)] : text.split(",").map(constantOf);
    return [row.querySelector("[data-name]").value.trim(), operator, ...constants];
  }
}
