# frozen_string_literal: true

# What the applications of bench/stream have in common: the bodies that every server sends in the same way, and the
# messages for SSE.
module Bodies
  PART = ("x" * 512).freeze
  PARTS = 200
  ROWS = 100_000
  MESSAGES_PER_SECOND = 10
  PADDING = ("." * 64).freeze

  # 200 small parts.
  class Parts
    def each
      PARTS.times { yield PART }
    end
  end

  # A CSV that is generated row by row.
  class Rows
    def each
      ROWS.times { |number| yield "#{number},customer #{number},#{number * 3},open\n" }
    end
  end

  # A file that the server may send itself.
  class Download
    attr_reader :to_path

    def initialize(path)
      @to_path = path
    end

    def each
      File.open(@to_path, "rb") do |file|
        while (part = file.read(65_536))
          yield part
        end
      end
    end
  end

  # Messages by `each`, with a pause of so many microseconds after each. how: "sleep", or "burn" (Ruby's lock is kept).
  # Ends when the client is gone.
  class Pauses
    def initialize(microseconds, how)
      @seconds = microseconds / 1e6
      @how = how
    end

    def each
      loop do
        yield "data: #{Bodies.message(Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond))}\n\n"
        @how == "sleep" ? sleep(@seconds) : burn
      end
    end

    private

    def burn
      till = Process.clock_gettime(Process::CLOCK_MONOTONIC) + @seconds
      nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < till
    end
  end

  FILE = ENV.fetch("BENCH_FILE")

  module_function

  # Returns the response to a path that is the same for all servers, or nil.
  def response(path)
    case path
    when "/parts" then [200, { "content-type" => "text/plain" }, Parts.new]
    when %r{\A/pauses/(\d+)/(sleep|burn)\z}
      [200, { "content-type" => "text/event-stream" }, Pauses.new(Regexp.last_match(1).to_i, Regexp.last_match(2))]
    when "/csv" then [200, { "content-type" => "text/csv" }, Rows.new]
    when "/file"
      fields = { "content-type" => "application/octet-stream", "content-length" => File.size(FILE).to_s }
      [200, fields, Download.new(FILE)]
    end
  end

  # The data of a message: its time in nanoseconds of the monotonic clock, and padding.
  def message(time) = "#{time} #{PADDING}"

  # Yields a message each 0.1 s, and never returns. The time in a message is the time at which the message was due. So a
  # server that is late cannot hide this from the client.
  def each_message
    due = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    loop do
      due += 1_000_000_000 / MESSAGES_PER_SECOND
      wait = due - Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      sleep(wait / 1e9) if wait.positive?
      yield message(due)
    end
  end
end
