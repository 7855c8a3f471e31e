// Shows the document that the page names; asks nobody else for anything.
window.ui = SwaggerUIBundle({
  url: document.getElementById("reference").dataset.document,
  dom_id: "#reference",
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  persistAuthorization: false,
});
