# frozen_string_literal: true

require_relative "option_table"

module Bontebok
  # Reads a configuration file: Ruby, in which each option of the table is a method that takes its value.
  #
  #   listen "127.0.0.1:8080", "unix:/run/app.sock"
  #   max_workers 4
  #   header_timeout 10
  class ConfigFile
    # { key => Entry }: the value as it was written, and "path:line" of it.
    Entry = Struct.new(:value, :place)

    LONGEST_MESSAGE = 200

    attr_reader :entries

    # Raises StartError when the file cannot be read, UsageError for what is wrong in it.
    def initialize(path)
      @path = path
      @entries = {}
      Directives.new(self).instance_eval(source, path, 1)
    rescue StartError, SignalException
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException
      raise UsageError, fault(e)
    end

    def store(option, values, place)
      raise UsageError, "#{place}: #{option.name} wants a value" if values.empty?
      raise UsageError, "#{place}: #{option.name} wants one value" if values.size > 1 && !option.repeated?

      if option.repeated?
        (@entries[option.key] ||= Entry.new([], place)).value.concat(values.flatten)
      else
        @entries[option.key] = Entry.new(values.first, place)
      end
    end

    # The line of the file that the topmost of these frames belongs to.
    def place(locations)
      frame = locations&.find { |location| location.path == @path }
      frame ? "#{@path}:#{frame.lineno}" : @path
    end

    private

    # In one line, whatever was raised. Ruby's message about the file's own syntax has the place already.
    def fault(exception)
      text = first_line(exception)
      return text if exception.is_a?(SyntaxError) && text.start_with?("#{@path}:")

      named = text.empty? || text == exception.class.name ? exception.class : "#{text} (#{exception.class})"
      "#{place(exception.backtrace_locations)}: #{named}"
    end

    # A message may be empty, endless, no text, or raise.
    def first_line(exception)
      text = exception.message.to_s
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub.strip.lines(chomp: true).first.to_s
      text.size > LONGEST_MESSAGE ? "#{text[0, LONGEST_MESSAGE]}..." : text
    rescue StandardError
      ""
    end

    # Read as UTF-8 whatever the locale says.
    def source
      File.read(@path, encoding: "bom|utf-8")
    rescue SystemCallError => e
      raise StartError, "cannot read the configuration file #{@path}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # What `self` is in the file.
    class Directives
      def initialize(file)
        @file = file
      end

      OptionTable::ALL.select(&:in_file?).each do |option|
        option.all_keys.each do |key|
          define_method(key) { |*values| @file.store(option, values, @file.place(caller_locations(1))) }
        end
      end

      private

      def method_missing(name, *)
        raise UsageError, "#{@file.place(caller_locations(1))}: unknown option #{name}"
      end

      def respond_to_missing?(*)
        false
      end
    end
    private_constant :Directives
  end
end
