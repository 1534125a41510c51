# frozen_string_literal: true

require_relative "../usage_error"

module Bontebok
  # The faults of a configuration. Config and Check note them, so a user sees all of them at once.
  class Faults
    # status: the exit status of a start with this fault.
    Fault = Struct.new(:message, :status)
    private_constant :Fault

    # errors: each StartError that has been found before.
    def initialize(errors = [])
      @faults = errors.flat_map { |error| faults_of(error) }
    end

    # Returns the result of the block. Notes its StartError, and returns nil.
    def note
      yield
    rescue StartError => e
      @faults.concat(faults_of(e) - @faults)
      nil
    end

    def messages = @faults.map(&:message)

    # The exit status of a start with these faults.
    def status = @faults.map(&:status).max || 0

    # Raises a UsageError with all faults, or a StartError if only a file or directory is missing.
    def refuse
      raise (status == 2 ? UsageError : StartError).new(*messages) if @faults.any?
    end

    private

    def faults_of(error)
      error.messages.map { |message| Fault.new(message, error.exit_status) }
    end
  end
end
