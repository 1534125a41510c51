# frozen_string_literal: true

require "io/wait"

module Bontebok
  # The server's own log: a line has the time in UTC, the level, the process and the message. Every process writes to
  # the same stream, what is no longer than PIECE_BYTES in one write, so that lines do not mix. Never used in a signal
  # handler.
  class Log
    LEVELS = %i[info warn error].freeze
    # A reader that has stopped reading costs a line, never a request: we wait for it so many seconds.
    PATIENCE = 0.2
    # A pipe that is writable takes so many bytes without blocking (pipe(7), PIPE_BUF).
    PIECE_BYTES = 4096
    LONGEST_TEXT = 4096
    BACKTRACE_LINES = 20
    CAUSES = 5
    # Frames of the server itself, and of Rack on the way to the rackup file, say nothing about an application's fault.
    OWN_FOLDER = "#{File.expand_path(__dir__)}/".freeze
    RACK_BUILDER = "/lib/rack/builder.rb:"

    def initialize(stream = $stderr)
      @stream = stream
      @lock = Mutex.new
    end

    LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    def write(level, message, exception = nil)
      text = readable(message)
      text += ": #{describe(exception)}" if exception
      head = "#{Time.now.utc.strftime('%Y-%m-%dT%H:%M:%S.%LZ')} #{level} #{Process.pid} "
      put("#{head}#{text.gsub("\n", "\n  ")}\n")
    end

    private

    # An application's exception may do anything when it is asked: the line is written all the same.
    def describe(exception)
      frames = frames_of(exception.backtrace.to_a)
      lines = frames.first(BACKTRACE_LINES).map { |frame| readable(frame) }
      lines << "... #{frames.size - lines.size} more" if frames.size > lines.size
      ["#{message_of(exception)} (#{exception.class})", *lines, *causes_of(exception)].join("\n")
    rescue Exception => e # rubocop:disable Lint/RescueException
      "an exception that cannot be described (#{e.class})"
    end

    def message_of(exception)
      readable(exception.message)
    rescue Exception => e # rubocop:disable Lint/RescueException
      "its message raised #{e.class}"
    end

    # A line each, with the place at which it was raised.
    def causes_of(exception)
      causes = []
      causes << exception while causes.size < CAUSES && (exception = exception.cause)
      causes.map do |cause|
        place = frames_of(cause.backtrace.to_a).first(1).map { |frame| ", #{readable(frame)}" }
        "caused by #{message_of(cause).lines(chomp: true).first} (#{cause.class})#{place.first}"
      end
    end

    # All of them when the fault is our own.
    def frames_of(backtrace)
      return backtrace if backtrace.first&.start_with?(OWN_FOLDER)

      frames = backtrace.take_while { |frame| !frame.start_with?(OWN_FOLDER) }
      frames.pop while frames.last&.include?(RACK_BUILDER)
      frames
    end

    # UTF-8, whatever meets in a line: bytes of a request, messages in other encodings.
    def readable(text)
      text = text.to_s
      text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY || text.encoding.dummy?
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
      text.size > LONGEST_TEXT ? "#{text[0, LONGEST_TEXT]}... #{text.size - LONGEST_TEXT} more" : text
    end

    # A stream that is gone is no reason to stop serving.
    def put(text)
      @lock.synchronize do
        text = "\n#{text}" if @cut
        @cut = 0.step(text.bytesize - 1, PIECE_BYTES).any? { |start| !put_piece(text.byteslice(start, PIECE_BYTES)) }
      end
    rescue SystemCallError, IOError
      nil
    end

    def put_piece(piece)
      @stream.syswrite(piece) if @stream.wait_writable(PATIENCE)
    end
  end
end
