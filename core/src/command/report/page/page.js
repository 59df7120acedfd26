/* SPDX-License-Identifier: MIT */
/* The page is complete without this script, which only adds sorting, search, copying and zooming. */
(function () {
  'use strict';

  function make(name, properties, text) {
    var made = document.createElement(name);
    Object.keys(properties || {}).forEach(function (key) {
      made.setAttribute(key, properties[key]);
    });
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  function button(text, act) {
    var made = make('button', { type: 'button', 'class': 'button' }, text);
    made.addEventListener('click', act);
    return made;
  }

  function each(selector, act) {
    Array.prototype.forEach.call(document.querySelectorAll(selector), act);
  }

  /* Sorting. */
  function valueOf(row, column, isNumber) {
    var cell = row.cells[column];
    if (!isNumber) {
      return cell.textContent;
    }
    var value = parseFloat(cell.getAttribute('data-v') || cell.textContent);
    return isNaN(value) ? -Infinity : value;
  }

  function sortTable(table, column, isNumber, isDescending) {
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row, index) {
      return { row: row, index: index, value: valueOf(row, column, isNumber) };
    });
    rows.sort(function (a, b) {
      var order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
      return (isDescending ? -order : order) || a.index - b.index;
    });
    rows.forEach(function (item) {
      body.appendChild(item.row);
    });
  }

  function addSorting(table) {
    var heads = table.tHead.rows[0].cells;
    Array.prototype.forEach.call(heads, function (head, column) {
      var isNumber = head.classList.contains('n');
      var made = make('button', { type: 'button' }, head.textContent);
      made.addEventListener('click', function () {
        var now = head.getAttribute('aria-sort');
        var isDescending = now ? now === 'ascending' : isNumber;
        Array.prototype.forEach.call(heads, function (other) {
          other.removeAttribute('aria-sort');
        });
        head.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
        sortTable(table, column, isNumber, isDescending);
      });
      head.textContent = '';
      head.appendChild(made);
    });
  }

  /* Search: rows without the words disappear. */
  function addSearch(table) {
    var rows = table.tBodies[0].rows;
    if (rows.length < 8) {
      return;
    }
    var tools = make('div', { 'class': 'tools' });
    var label = make('label', {}, 'Search ');
    var input = make('input', { type: 'search', id: table.id + '-search' });
    var count = make('span', { 'class': 'note', role: 'status' });
    label.appendChild(input);
    tools.appendChild(label);
    tools.appendChild(count);
    input.addEventListener('input', function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      Array.prototype.forEach.call(rows, function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) {
          return text.indexOf(word) >= 0;
        });
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + ' of ' + rows.length + ' rows' : '';
    });
    var scroll = table.parentNode;
    scroll.parentNode.insertBefore(tools, scroll);
  }

  /* Copying of commands; a page that was opened as a file may have no clipboard. */
  function addCopy(code) {
    if (!navigator.clipboard) {
      return;
    }
    var made = button('Copy', function () {
      navigator.clipboard.writeText(code.textContent).then(function () {
        made.textContent = 'Copied';
      }, function () {
        made.textContent = 'Not copied';
      });
    });
    code.parentNode.appendChild(document.createTextNode(' '));
    code.parentNode.appendChild(made);
  }

  /* Light, dark, or as the system has it: kept in the address, not on the machine. */
  var themes = ['auto', 'light', 'dark'];

  function setTheme(theme) {
    document.documentElement.classList.remove('light', 'dark');
    if (theme !== 'auto') {
      document.documentElement.classList.add(theme);
    }
  }

  function addTheme() {
    var theme = location.hash === '#light' ? 'light' : location.hash === '#dark' ? 'dark' : 'auto';
    var made = button('Colours: ' + theme, function () {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      setTheme(theme);
      made.textContent = 'Colours: ' + theme;
      history.replaceState(null, '', theme === 'auto' ? '#' : '#' + theme);
    });
    setTheme(theme);
    var item = make('li');
    item.appendChild(made);
    document.querySelector('nav ul').appendChild(item);
  }

  function addUnfolding() {
    var section = document.getElementById('findings');
    var all = section.querySelectorAll('details');
    if (!all.length) {
      return;
    }
    var isOpen = false;
    var tools = make('div', { 'class': 'tools' });
    var made = button('Unfold all', function () {
      isOpen = !isOpen;
      Array.prototype.forEach.call(all, function (one) {
        one.open = isOpen;
      });
      made.textContent = isOpen ? 'Fold all' : 'Unfold all';
    });
    tools.appendChild(made);
    section.insertBefore(tools, section.children[1] || null);
  }

  /* Paper has nothing to unfold. */
  function openForPrint() {
    window.addEventListener('beforeprint', function () {
      each('.card details', function (one) {
        one.open = true;
      });
    });
  }

  each('table.data', function (table) {
    addSorting(table);
    addSearch(table);
  });
  each('.next code', addCopy);
  addTheme();
  addUnfolding();
  openForPrint();
}());
