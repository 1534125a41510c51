# frozen_string_literal: true

module Support
  # Collects the output of a child process. One thread per stream reads, so the child never blocks on a full pipe. A
  # test that waits for a line is woken when the line arrives. The order of lines of different streams is unknown.
  class Output
    def initialize
      @text = Hash.new { |texts, stream| texts[stream] = String.new(encoding: Encoding::BINARY) }
      @open = {}
      @mutex = Mutex.new
      @news = ConditionVariable.new
    end

    # Starts a thread that reads io to its end. stream: :stdout or :stderr.
    def collect(stream, io)
      @mutex.synchronize { @open[io] = stream }
      Thread.new do
        io.wait_readable while @mutex.synchronize { take(io) }
        @mutex.synchronize { forget(io) }
      end
    end

    # Returns the output so far, of one stream or of all streams, one after the other. The output is complete if the
    # process has ended.
    def text(stream = nil)
      @mutex.synchronize do
        @open.each_key { |io| take(io) }
        (stream ? @text[stream] : all).dup.force_encoding(Encoding::UTF_8).scrub
      end
    end

    def lines(stream = nil)
      text(stream).lines(chomp: true)
    end

    # Waits until the output of a stream matches the pattern. Returns the MatchData; nil if all streams have ended
    # without a match. Raises Timeout after the limit.
    def wait_for(pattern, limit = Deadline::DEFAULT_SECONDS)
      wait_until("#{pattern.inspect} in the output", limit) do
        @text.each_value.lazy.filter_map { |text| pattern.match(text) }.first
      end
    end

    # Waits until no process has a stream open for writing.
    def wait_for_end(limit = Deadline::DEFAULT_SECONDS)
      wait_until("the end of the output", limit) { @open.empty? }
    end

    private

    def all = @text.sort.map(&:last).join

    # Reads at most 64 KiB, the capacity of a pipe. Returns nil if the stream has ended.
    def take(io)
      bytes = io.read_nonblock(65_536, exception: false)
      add(@open[io], bytes) if bytes.is_a?(String)
      bytes
    end

    def add(stream, bytes)
      @text[stream] << bytes
      @news.broadcast
    end

    def forget(io)
      @open.delete(io)
      io.close
      @news.broadcast
    end

    def wait_until(what, limit)
      deadline = Deadline.for(limit)
      @mutex.synchronize do
        loop do
          result = yield
          return result if result
          return nil if @open.empty?
          raise Timeout, "waited in vain for #{what}:\n#{all}" if deadline.passed?

          @news.wait(@mutex, deadline.left)
        end
      end
    end
  end
end
