# frozen_string_literal: true

module Interop
  # Conditional requests and requests for ranges, for a file of 100 bytes. nginx_files_test.rb sends them to nginx and
  # to the server. In a value, ETAG is the tag that the same server gives to the file, and BARE is that tag without its
  # quotes. MODIFIED is the file's Last-Modified, OLDER is a second earlier, NEWER a second later.
  module Conditions
    NONE = "If-None-Match"
    SINCE = "If-Modified-Since"
    MATCH = "If-Match"
    UNMODIFIED = "If-Unmodified-Since"
    RANGE = "Range"
    IF_RANGE = "If-Range"
    # The same second in the two obsolete forms of a date (RFC 9110 5.6.7).
    RFC_850 = "Tuesday, 14-Nov-23 22:13:20 GMT"
    ASCTIME = "Tue Nov 14 22:13:20 2023"
    # More ranges than the server sends.
    SEVENTEEN = "bytes=#{Array.new(17) { |number| "#{number * 3}-#{number * 3}" }.join(",")}".freeze

    CASES = {
      "no condition" => {},
      # RFC 9110 13.1.2
      "If-None-Match: own" => { NONE => "ETAG" },
      "If-None-Match: other" => { NONE => '"other"' },
      "If-None-Match: weak" => { NONE => "W/ETAG" },
      "If-None-Match: list with own" => { NONE => '"a", "b" ,ETAG' },
      "If-None-Match: list without own" => { NONE => '"a", W/"b"' },
      "If-None-Match: empty elements" => { NONE => ",, ,ETAG,," },
      "If-None-Match: *" => { NONE => "*" },
      "If-None-Match: own without quotes" => { NONE => "BARE" },
      "If-None-Match: own after an element that is no tag" => { NONE => "a, ETAG" },
      "If-None-Match: * in a list" => { NONE => '"a", *' },
      "If-None-Match: empty" => { NONE => "" },
      # RFC 9110 13.1.3
      "If-Modified-Since: same" => { SINCE => "MODIFIED" },
      "If-Modified-Since: older" => { SINCE => "OLDER" },
      "If-Modified-Since: newer" => { SINCE => "NEWER" },
      "If-Modified-Since: RFC 850" => { SINCE => RFC_850 },
      "If-Modified-Since: asctime" => { SINCE => ASCTIME },
      "If-Modified-Since: no date" => { SINCE => "yesterday" },
      "If-Modified-Since: no such day" => { SINCE => "Thu, 30 Feb 2023 00:00:00 GMT" },
      "If-Modified-Since: another zone" => { SINCE => "Tue, 14 Nov 2023 22:13:20 CET" },
      "If-Modified-Since: a length behind" => { SINCE => "MODIFIED; length=100" },
      # RFC 9110 13.1.1
      "If-Match: own" => { MATCH => "ETAG" },
      "If-Match: other" => { MATCH => '"other"' },
      "If-Match: weak" => { MATCH => "W/ETAG" },
      "If-Match: list with own" => { MATCH => '"a", ETAG' },
      "If-Match: *" => { MATCH => "*" },
      "If-Match: no tag" => { MATCH => "a" },
      # RFC 9110 13.1.4
      "If-Unmodified-Since: same" => { UNMODIFIED => "MODIFIED" },
      "If-Unmodified-Since: older" => { UNMODIFIED => "OLDER" },
      "If-Unmodified-Since: newer" => { UNMODIFIED => "NEWER" },
      "If-Unmodified-Since: no date" => { UNMODIFIED => "yesterday" },
      # RFC 9110 14.2
      "Range: first bytes" => { RANGE => "bytes=0-9" },
      "Range: one byte" => { RANGE => "bytes=99-99" },
      "Range: two bytes" => { RANGE => "bytes=0-1" },
      "Range: open" => { RANGE => "bytes=90-" },
      "Range: suffix" => { RANGE => "bytes=-10" },
      "Range: suffix of all" => { RANGE => "bytes=-100" },
      "Range: suffix longer than the file" => { RANGE => "bytes=-1000" },
      "Range: suffix of no byte" => { RANGE => "bytes=-0" },
      "Range: end behind the file" => { RANGE => "bytes=90-1000" },
      "Range: all" => { RANGE => "bytes=0-99" },
      "Range: begins behind the file" => { RANGE => "bytes=100-" },
      "Range: far behind the file" => { RANGE => "bytes=1000-2000" },
      "Range: backwards" => { RANGE => "bytes=9-0" },
      "Range: too large a number" => { RANGE => "bytes=99999999999999999999-" },
      "Range: too large an end" => { RANGE => "bytes=0-99999999999999999999" },
      "Range: another unit" => { RANGE => "lines=0-9" },
      "Range: upper case" => { RANGE => "BYTES=0-9" },
      "Range: no range" => { RANGE => "bytes=" },
      "Range: no number" => { RANGE => "bytes=-" },
      "Range: letters" => { RANGE => "bytes=a-b" },
      "Range: a sign" => { RANGE => "bytes=+0-9" },
      "Range: blanks" => { RANGE => "bytes= 0 - 9" },
      "Range: two" => { RANGE => "bytes=0-1,98-99" },
      "Range: three with blanks" => { RANGE => "bytes=0-1 , 4-5 ,98-" },
      "Range: two that overlap" => { RANGE => "bytes=0-9,5-14" },
      "Range: the same twice" => { RANGE => "bytes=0-9,0-9" },
      "Range: not in order" => { RANGE => "bytes=98-99,0-1" },
      "Range: neighbours" => { RANGE => "bytes=0-49,50-98" },
      "Range: one of two behind the file" => { RANGE => "bytes=0-1,200-" },
      "Range: both behind the file" => { RANGE => "bytes=100-,200-" },
      "Range: one of two malformed" => { RANGE => "bytes=0-1,x" },
      "Range: empty elements" => { RANGE => "bytes=,0-1,," },
      "Range: longer than the file together" => { RANGE => "bytes=0-,0-,0-" },
      "Range: seventeen" => { RANGE => SEVENTEEN },
      # RFC 9110 13.1.5
      "If-Range: own" => { RANGE => "bytes=0-9", IF_RANGE => "ETAG" },
      "If-Range: other" => { RANGE => "bytes=0-9", IF_RANGE => '"other"' },
      "If-Range: weak" => { RANGE => "bytes=0-9", IF_RANGE => "W/ETAG" },
      "If-Range: same date" => { RANGE => "bytes=0-9", IF_RANGE => "MODIFIED" },
      "If-Range: older" => { RANGE => "bytes=0-9", IF_RANGE => "OLDER" },
      "If-Range: newer" => { RANGE => "bytes=0-9", IF_RANGE => "NEWER" },
      "If-Range: no date" => { RANGE => "bytes=0-9", IF_RANGE => "a" },
      "If-Range: *" => { RANGE => "bytes=0-9", IF_RANGE => "*" },
      "If-Range: other, unsatisfiable" => { RANGE => "bytes=200-", IF_RANGE => '"other"' },
      "If-Range without Range" => { IF_RANGE => '"other"' },
      # several: RFC 9110 13.2.2
      "If-None-Match: own, older date" => { NONE => "ETAG", SINCE => "OLDER" },
      "If-None-Match: other, same date" => { NONE => '"other"', SINCE => "MODIFIED" },
      "If-Match: own, older date" => { MATCH => "ETAG", UNMODIFIED => "OLDER" },
      "If-Match: other, newer date" => { MATCH => '"other"', UNMODIFIED => "NEWER" },
      "If-Match: own, If-None-Match: own" => { MATCH => "ETAG", NONE => "ETAG" },
      "If-Match: other, If-None-Match: own" => { MATCH => '"other"', NONE => "ETAG" },
      "If-Unmodified-Since: older, If-None-Match: own" => { UNMODIFIED => "OLDER", NONE => "ETAG" },
      "If-Unmodified-Since: same, If-Modified-Since: same" => { UNMODIFIED => "MODIFIED", SINCE => "MODIFIED" },
      "If-None-Match: own, Range" => { NONE => "ETAG", RANGE => "bytes=0-9" },
      "If-None-Match: other, Range" => { NONE => '"other"', RANGE => "bytes=0-9" },
      "If-None-Match: own, Range unsatisfiable" => { NONE => "ETAG", RANGE => "bytes=200-" },
      "If-Match: own, Range" => { MATCH => "ETAG", RANGE => "bytes=0-9" },
      "If-Match: other, Range" => { MATCH => '"other"', RANGE => "bytes=0-9" },
      "If-Match: other, Range unsatisfiable" => { MATCH => '"other"', RANGE => "bytes=200-" },
      "If-Modified-Since: same, If-Range: own" => { SINCE => "MODIFIED", RANGE => "bytes=0-9", IF_RANGE => "ETAG" }
    }.freeze

    # What nginx does otherwise: { case => [nginx's status, the case whose response the server gives, the reason] }. The
    # sections are of RFC 9110. For the methods, see nginx_files_test.rb.
    DIFFERENCES = {
      "If-Modified-Since: newer" =>
        [200, "If-None-Match: own", "13.1.3: the file was not modified after the date; nginx compares for equality"],
      "If-Modified-Since: another zone" => [304, "no condition", "13.1.3: what is no HTTP-date is ignored"],
      "If-Modified-Since: a length behind" => [304, "no condition", "13.1.3: what is no HTTP-date is ignored"],
      "If-Unmodified-Since: no date" => [412, "no condition", "13.1.4: what is no HTTP-date is ignored"],
      "If-None-Match: own, older date" =>
        [200, "If-None-Match: own", "13.1.3: with If-None-Match, If-Modified-Since is ignored"],
      "If-Match: own, older date" => [412, "no condition", "13.1.4: with If-Match, If-Unmodified-Since is ignored"],
      "Range: too large an end" => [416, "Range: all", "14.1.2: an end behind the file is the end of the file"],
      "Range: empty elements" => [416, "Range: two bytes", "5.6.1.2: empty elements of a list are ignored"],
      "Range: backwards" => [416, "no condition", "14.2: a malformed Range may be ignored"],
      "Range: no number" => [416, "no condition", "14.2: a malformed Range may be ignored"],
      "Range: letters" => [416, "no condition", "14.2: a malformed Range may be ignored"],
      "Range: a sign" => [416, "no condition", "14.2: a malformed Range may be ignored"],
      "Range: one of two malformed" => [416, "no condition", "14.2: a malformed Range may be ignored"],
      "Range: blanks" => [206, "no condition", "14.1.1: no blanks inside of a range"],
      "Range: seventeen" => [206, "no condition", "14.2: many small ranges may be ignored"]
    }.freeze
  end
end
