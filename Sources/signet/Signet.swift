@main struct Signet { static func main() {} }
