import Foundation
import SignetBase
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// Base64 and base64url, encoded and decoded strictly.
@Suite struct Base64Tests {
    @Test(arguments: try VectorFile.load("rfc4648"))
    func agreesWithTheRFC(_ vector: JSONObject) {
        let plain = bytes(vector.text("plain"))
        #expect(Base64.encode(plain, as: .standard) == vector.text("standard"))
        #expect(Base64.encode(plain, as: .url) == vector.text("url"))
        #expect(Base64.decode(vector.text("standard"), from: .standard) == plain)
        #expect(Base64.decode(vector.text("url"), from: .url) == plain)
    }

    /// Every length around the sixteen characters that are decoded at once, and every byte in every
    /// position.
    @Test func agreesWithFoundation() {
        for count in 0...130 {
            for seed in 0..<8 {
                let plain = (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 37) ^ (seed &* 83)) }
                let wanted = Data(plain).base64EncodedString()
                #expect(Base64.encode(plain, as: .standard) == wanted)
                let url = wanted.replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: "")
                #expect(Base64.encode(plain, as: .url) == url)
                #expect(Base64.encodeBytes(plain.span, as: .url) == bytes(url))
                var text = bytes("x.")
                Base64.append(plain.span, as: .url, to: &text)
                #expect(text == bytes("x." + url))
                #expect(Base64.decode(wanted, from: .standard) == plain)
                #expect(Base64.decode(url, from: .url) == plain)
            }
        }
    }

    @Test func machinesWithoutWideRegistersAgree() {
        for count in 0...130 {
            let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ count) }
            let url = bytes(Base64.encode(plain, as: .url))
            #expect(Base64.encodeInWords(plain, as: .url) == url)
            #expect(
                Base64.encodeInWords(plain, as: .standard)
                    == bytes(Base64.encode(plain, as: .standard)))
            #expect(Base64.decodeInWords(url, from: .url) == plain)
            for place in url.indices {
                for letter in bytes("+/=[`{@:.\u{0}\u{7f}") + [0x80, 0xff] {
                    var changed = url
                    changed[place] = letter
                    #expect(Base64.decodeInWords(changed, from: .url) == nil)
                }
            }
        }
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Z", "=", "==", "====", "Zm9vZg", "Zg==Zg==", "Zm=v", "Zh==", "Zm9=",
        "Zm8=\n", " Zm8=", "Zm8 =", "Zm 8", "Zm9v\n", "-_==", "Zm9v-A==", "Z\u{0}8=", "Zm8é",
        "Zm8*",
    ])
    func standardRefuses(_ text: String) {
        #expect(Base64.decode(text, from: .standard) == nil)
    }

    @Test(arguments: [
        "Zg==", "Zg=", "Z", "Zm8=", "Zh", "Zm9", "Zm9vZ", "Zm9v\n", " Zm9v", "Zm\n9v", "+/8",
        "Zm9v/w",
        "Zm.9", "Zm9v=", "Z\u{0}8", "Zmé", "[m9v", "`m9v", "{m9v", "@m9v", ":m9v", "Zm9v,A",
    ])
    func urlRefuses(_ text: String) {
        #expect(Base64.decode(text, from: .url) == nil)
    }

    /// One foreign letter at each place of a text long enough for every way of reading.
    @Test func refusesAForeignLetterAnywhere() {
        let common = bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        for (form, more) in [(Base64.Form.url, "-_"), (.standard, "+/")] {
            // Three times four steps of 32 letters, one step, words and the end.
            var text = bytes(Base64.encode([UInt8](repeating: 0xa5, count: 348), as: form))
            let letters = Set(common + bytes(more))
            var right = 0
            for place in text.indices {
                let kept = text[place]
                for letter in UInt8.min...UInt8.max {
                    text[place] = letter
                    if (Base64.decode(text, from: form) != nil) == letters.contains(letter) {
                        right += 1
                    }
                }
                text[place] = kept
            }
            #expect(right == text.count * 256)
        }
    }

    /// Every letter in every place of a step, with the value that the other letters do not hide.
    @Test func decodesEveryLetterInEveryPlace() {
        for (form, last) in [(Base64.Form.url, "-_"), (.standard, "+/")] {
            let alphabet = bytes(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last)
            for turn in 0..<64 {
                let text = (0..<320).map { alphabet[($0 * 7 + turn) % 64] }
                let plain = Base64.decode(text, from: form)
                #expect(plain?.count == 240)
                for (index, letter) in text.enumerated() {
                    let bit = index * 6
                    let word =
                        UInt16(plain?[bit / 8] ?? 0) << 8
                        | UInt16(bit / 8 + 1 < 240 ? plain?[bit / 8 + 1] ?? 0 : 0)
                    let sextet = Int(word >> UInt16(10 - bit % 8)) & 63
                    if alphabet[sextet] != letter {
                        Issue.record("letter \(index) of turn \(turn)")
                        return
                    }
                }
            }
        }
    }

    /// Two texts never decode to the same bytes: encoding a decoded text returns that text.
    @Test func everyShortTextHasOneSpelling() {
        let letters = bytes("ABYZabyz0189-_+/=. ")
        for a in letters {
            for b in letters {
                for c in letters {
                    for text in [[a], [a, b], [a, b, c], [a, b, c, a]] {
                        for form in [Base64.Form.url, .standard] {
                            guard let plain = Base64.decode(text, from: form) else { continue }
                            #expect(Base64.encodeBytes(plain.span, as: form) == text)
                        }
                    }
                }
            }
        }
    }
}

/// Times in seconds since 1970, written and read as dates.
@Suite struct UnixTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"), (1_795_228_551, "2026-11-21T02:35:51Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"), (Int64.max, "9999-12-31T23:59:59Z"),
        (-62_167_219_200, "0000-01-01T00:00:00Z"), (Int64.min, "0000-01-01T00:00:00Z"),
    ])
    func writesRFC3339(_ seconds: Int64, _ text: String) {
        #expect(UnixTime.rfc3339(seconds) == text)
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("2027-06-30", 1_814_313_600), ("2000-02-29", 951_782_400),
        ("2024-02-29", 1_709_164_800), ("1969-12-31", -86_400),
    ])
    func readsADay(_ text: String, _ seconds: Int64) {
        #expect(UnixTime.parseDate(text) == seconds)
    }

    @Test(arguments: [
        "", "2027", "2027-6-30", "2027-06-31", "2027-02-29", "1900-02-29", "2027-00-10",
        "2027-13-01",
        "2027-01-00", "2027-06-30Z", " 2027-06-30", "2027-06-30 ", "2027/06/30", "20270630",
        "+027-06-30", "-027-06-30", "２０２７-06-30", "2027-06-3x", "2027-06-30T00:00:00Z",
    ])
    func refusesADay(_ text: String) {
        #expect(UnixTime.parseDate(text) == nil)
    }
}
