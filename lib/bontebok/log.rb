# frozen_string_literal: true

require_relative "log_stream"

module Bontebok
  # The server's own log: a line has the time in UTC, the level, the process and the message. Every process writes to
  # the same stream. Lines for which it has no room are lost, counted, and told of when there is room again; so it may
  # be used before an exit! that must not fail. Never used in a signal handler.
  class Log
    LEVELS = %i[info warn error].freeze
    # A reader that has stopped reading costs lines, never a request: we wait for it so many seconds, and not again
    # before it reads.
    PATIENCE = 0.2
    LONGEST_TEXT = 4096
    BACKTRACE_LINES = 20
    CAUSES = 5
    # Frames of the server itself, and of Rack on the way to the rackup file, say nothing about an application's fault.
    OWN_FOLDER = "#{File.expand_path(__dir__)}/".freeze
    RACK_BUILDER = "/lib/rack/builder.rb:"

    def initialize(stream = $stderr)
      @stream = LogStream.new(stream)
      @lock = Mutex.new
      @lost = 0
      @process = Process.pid
    end

    LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    def write(level, message, exception = nil)
      text = readable(message)
      text += ": #{describe(exception)}" if exception
      put(line(level, text))
    end

    def disown
      @stream.disown
    end

    private

    def line(level, text)
      "#{Time.now.utc.strftime('%Y-%m-%dT%H:%M:%S.%LZ')} #{level} #{Process.pid} #{text.gsub("\n", "\n  ")}\n"
    end

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

    def put(line)
      @lock.synchronize do
        forget_losses_of_parent
        @lost = 0 if @lost.positive? && @stream.write(losses, 0)
        @lost += 1 unless @lost.zero? && @stream.write(line, PATIENCE)
      end
    end

    def losses
      line(:warn, @lost == 1 ? "1 line was lost" : "#{@lost} lines were lost")
    end

    # It tells of them itself.
    def forget_losses_of_parent
      return if @process == Process.pid

      @process = Process.pid
      @lost = 0
    end
  end
end
