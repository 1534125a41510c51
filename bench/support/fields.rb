# frozen_string_literal: true

module Bench
  # Request fields besides Host: two in a small request, eleven in a browser's request.
  module Fields
    SMALL = ["User-Agent: bench", "Accept: */*"].freeze
    BROWSER = [
      "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
      "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
      "Accept-Language: en-US,en;q=0.7,de;q=0.3",
      "Accept-Encoding: gzip, deflate, br, zstd",
      "Referer: http://www.example.com/catalogue/antelopes",
      "Cookie: session=0123456789abcdef0123456789abcdef; theme=light",
      "Upgrade-Insecure-Requests: 1",
      "Sec-Fetch-Dest: document",
      "Sec-Fetch-Mode: navigate",
      "Sec-Fetch-Site: same-origin",
      "Priority: u=0, i"
    ].freeze
    BY_COUNT = { 3 => SMALL, 12 => BROWSER }.freeze
  end
end
