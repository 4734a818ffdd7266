import SignetPinning
import Testing

/// Pins as text and as bytes.
@Suite struct PinTests {
    /// RFC 7469, section 2.1.5 and appendix A.
    @Test(arguments: [
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=",
        "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256///////////////////////////////////////////8=",
    ])
    func readsAndWrites(_ text: String) throws {
        let pin = try Pin(parsing: text)
        #expect(pin.text == text)
        #expect(try Pin(bytes: pin.bytes) == pin)
    }

    @Test func decodesBytes() throws {
        let pin = try Pin(parsing: "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        #expect(pin.bytes == Array(0..<32))
    }

    @Test(arguments: [
        "", "sha256/", "sha256", "SHA256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha1/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256//d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmN=",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWm==",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM= ",
        " sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\n",
        "sha256/d6qz-u9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256/d6qz_u9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
        "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmMAAAA=",
        "sha256/d6qzéu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWm=",
    ])
    func refuses(_ text: String) {
        let error = #expect(throws: PinError.self) { try Pin(parsing: text) }
        #expect(error?.code == .badPin)
    }

    @Test(arguments: [0, 1, 20, 31, 33, 48])
    func refusesDigestsOfLength(_ count: Int) {
        #expect(throws: PinError.self) { try Pin(bytes: [UInt8](repeating: 7, count: count)) }
    }

    @Test(
        arguments: [
            ("1970-01-01", 86_400), ("2027-06-30", 1_814_400_000), ("2024-02-29", 1_709_251_200),
            ("2000-02-29", 951_868_800), ("9999-12-31", 253_402_300_800),
        ] as [(String, Int64)])
    func knowsWhenADayIsOver(_ text: String, _ end: Int64) throws {
        let date = try ExpiryDate(parsing: text)
        #expect(date.end == end)
        #expect(!date.isOver(at: end - 1))
        #expect(date.isOver(at: end))
    }

    @Test(arguments: [
        "", "2027-06-31", "2027-02-29", "1900-02-29", "2027-13-01", "2027-00-01", "2027-01-00",
        "2027-1-1", "27-01-01", "2027/01/01", "2027-01-01T00:00:00Z", "0000-01-01", "+027-01-01",
        " 2027-01-01", "２027-01-01",
    ])
    func refusesDates(_ text: String) {
        #expect(throws: PinError.self) { try ExpiryDate(parsing: text) }
    }
}
