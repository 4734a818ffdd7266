#if Inspector
import Foundation
import HTTPTypes
import SignetClient
import SignetInspector
import SignetTransport
import TestSupport
import Testing

/// The page's server, as a browser and its enemies reach it.
@Suite struct InspectorServerTests {
    @Test func aBrowserOpensTheLinkOnce() async throws {
        let fixture = try await InspectorFixture()
        #expect(fixture.page.url.hasPrefix("http://127.0.0.1:"))
        let (engine, authority) = (fixture.browser.engine, fixture.browser.authority)
        let again = try await PageBrowser.send(engine, "GET", fixture.page.url)
        #expect(again.status == 403)
        #expect(again.fields[.setCookie] == nil)
        let first = try await PageBrowser.send(engine, "GET", try fixture.page.link())
        #expect(first.status == 303)
        #expect(first.fields[.location] == "/")
        #expect(first.fields[.setCookie]?.contains("HttpOnly; SameSite=Strict") == true)
        let page = try await PageBrowser.send(
            engine, "GET", "http://\(authority)/", fields: [.cookie: fixture.browser.cookie])
        #expect(page.status == 200)
        for name in ["page.js", "page.css"] {
            let part = try await PageBrowser.send(
                engine, "GET", "http://\(authority)/\(name)",
                fields: [.cookie: fixture.browser.cookie])
            #expect(part.status == 200 && part.body.count > 1000)
        }
        await fixture.stop()
    }

    @Test func everyResponseHasThePagesPolicy() async throws {
        let fixture = try await InspectorFixture()
        let browser = fixture.browser
        for (path, fields) in [("/", [.cookie: browser.cookie] as HTTPFields), ("/", [:])] {
            let response = try await PageBrowser.send(
                browser.engine, "GET", "http://\(browser.authority)\(path)", fields: fields)
            let policy = response.fields[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("default-src 'none'") && !policy.contains("-inline"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(response.fields[HTTPField.Name("Referrer-Policy")!] == "no-referrer")
            #expect(response.fields[.cacheControl] == "no-store")
            #expect(response.fields[.xContentTypeOptions] == "nosniff")
            #expect(response.fields[.accessControlAllowOrigin] == nil)
        }
        await fixture.stop()
    }

    /// A name of the attacker that leads to 127.0.0.1, with all that the browser knows.
    @Test func aRebindingPageGets403() async throws {
        let fixture = try await InspectorFixture()
        let browser = fixture.browser
        let port = try #require(browser.authority.split(separator: ":").last)
        let there = EngineRequest.ConnectTo(
            host: try HostName.canonical("evil.example"), port: Int(port),
            address: try HostName.canonical("127.0.0.1"), addressPort: Int(port))
        for path in ["/", "/page.js", "/api/calls", "/api/act"] {
            let response = try await PageBrowser.send(
                browser.engine, "GET", "http://evil.example:\(port)\(path)", fields: browser.fields,
                connectTo: [there])
            #expect(response.status == 403)
        }
        await fixture.stop()
    }

    @Test func aCrossSitePostGets403() async throws {
        let fixture = try await InspectorFixture()
        let browser = fixture.browser
        let action = #"{"action":"switches","switches":{"isOffline":true}}"#
        let token = HTTPField.Name("Signet-Token")!
        let attempts: [HTTPFields] = [
            [.cookie: browser.cookie, .origin: "http://evil.example"],
            [.cookie: browser.cookie, .origin: "http://evil.example", token: browser.token],
            [.cookie: browser.cookie, .origin: "http://\(browser.authority)"],
            [.cookie: browser.cookie, token: browser.token],
            [.origin: "http://\(browser.authority)", token: browser.token],
            [:],
        ]
        for fields in attempts {
            let response = try await PageBrowser.send(
                browser.engine, "POST", "http://\(browser.authority)/api/act", fields: fields,
                body: action)
            #expect(response.status == 403)
        }
        #expect(!fixture.system.switches.simulation.isOffline)
        #expect(try await browser.act(["action": "switches", "switches": [:]]).status == 200)
        await fixture.stop()
    }

    /// A process of another user connects, with everything else right. Only root can start one.
    @Test(.enabled(if: geteuid() == 0)) func anotherUsersRequestGets403() async throws {
        let fixture = try await InspectorFixture()
        let link = try fixture.page.link()
        let curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", link]
        let other = try await ChildProcess.run(
            "/usr/bin/env", ["setpriv", "--reuid=65534", "--clear-groups"] + curl)
        #expect(String(decoding: other.stdout, as: UTF8.self) == "403")
        let own = try await ChildProcess.run("/usr/bin/env", curl)
        #expect(String(decoding: own.stdout, as: UTF8.self) == "303")
        await fixture.stop()
    }

    @Test func aLargeOrMalformedActionIsRefused() async throws {
        let fixture = try await InspectorFixture()
        let browser = fixture.browser
        let large = try await PageBrowser.send(
            browser.engine, "POST", "http://\(browser.authority)/api/act", fields: browser.fields,
            body: String(repeating: " ", count: 2 << 20))
        #expect(large.status == 413)
        for body in ["", "[]", "{", #"{"action":"dance"}"#, #"{"action":"switches"}"#] {
            let response = try await PageBrowser.send(
                browser.engine, "POST", "http://\(browser.authority)/api/act",
                fields: browser.fields, body: body)
            #expect(response.status == 400, "\(body)")
        }
        await fixture.stop()
    }

    @Test func afterTheStopNobodyAnswers() async throws {
        let fixture = try await InspectorFixture()
        await fixture.page.stop()
        let error = await #expect(throws: TransportError.self) {
            _ = try await PageBrowser.send(
                fixture.browser.engine, "GET", "http://\(fixture.browser.authority)/")
        }
        #expect(error?.code == .connect)
        await fixture.stop()
    }
}
#endif
