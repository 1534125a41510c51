# frozen_string_literal: true

require_relative "../hooks"
require_relative "../option_table"
require_relative "../rhebok_options"
require_relative "directives"

module Bontebok
  module ConfigStyles
    # The style of config/bontebok.rb. Each option of OptionTable is a method that takes a value. Each hook is a method
    # that takes a block.
    #
    #   listen "127.0.0.1:8080", "unix:/run/app.sock"
    #   max_workers 4
    #   after_fork { |worker| Database.connect }
    #
    class Native < Directives
      DEFAULTS = FIXED = CONSTANTS = {}.freeze
      LIBRARIES = [].freeze

      # In Rhebok, these options are on if they have a block.
      ON_WITH_BLOCK = %i[reuseport chunked_transfer].freeze

      OptionTable::ALL.select(&:in_file?).each do |option|
        option.all_keys.each do |key|
          define_method(key) do |*values, &block|
            note(option, block && ON_WITH_BLOCK.include?(key) ? [true] : values)
          end
        end
      end

      Hooks::NAMES.each do |name|
        define_method(name) { |hook = nil, &block| @bontebok_file.add_hook(name, hook || block) }
      end

      # Options of Rhebok. A file for Rhebok may have any name.
      option :host
      option :port
      option :path
      option RhebokOptions::TIMEOUT.key

      RhebokOptions::ADVICE.each { |name, (_, advice)| advise advice, name }

      private

      # The file may be for puma or unicorn although its name does not show this.
      def hint(name)
        other_style { |style| style.method_defined?(name) } || super
      end

      # The hint that names the first style for which the block is true, or nil.
      def other_style
        name = ALL.keys.find { |one| yield ConfigStyles.of(one) }
        "--config-style #{name} reads a file for #{name}" if name
      end

      def note(option, values)
        @bontebok_file.refuse("#{option.name} wants a value") if values.empty?
        return @bontebok_file.add(option.key, *values.flatten) if option.repeated?

        refuse_several(option) if values.size > 1
        option.key == :directory ? @bontebok_file.enter(values.first) : @bontebok_file.set(option.key, values.first)
      end

      # A directive of another server may have a required and an optional parameter, such as puma's `threads`.
      def refuse_several(option)
        hint = other_style { |style| style.method_defined?(option.key) && style.instance_method(option.key).arity < -1 }
        @bontebok_file.refuse("#{option.name} wants one value#{" (#{hint})" if hint}")
      end
    end
  end
end
