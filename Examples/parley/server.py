"""A host for Parley 1, on loopback: python3 server.py PORT"""
import http.server
import json
import sys


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told = []

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response, status = {"parley": 1, "ticket": call.get("ticket")}, 200
        given = call.get("with", {})
        if self.path != "/parley/say" or call.get("parley") != 1:
            return self.respond(404, b"<html>no")
        if "tell" in call:
            self.told.append(call["tell"])
            return self.respond(204, b"")
        if call["ask"] == "tea.order" and given.get("cups", 0) < 10:
            response["answer"] = {"cups": given["cups"], "told": self.told}
        elif call["ask"] == "tea.order":
            response["regret"] = {"why": "OUT_OF_TEA", "words": "no tea", "more": {"cups": 9}}
            status = 409
        elif call["ask"] == "wrong.ticket":
            response.update(ticket="another", answer=1)
        self.respond(status, json.dumps(response).encode())

    def respond(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Host).serve_forever()
