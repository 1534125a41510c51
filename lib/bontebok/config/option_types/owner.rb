# frozen_string_literal: true

require "etc"

require_relative "text"

module Bontebok
  module OptionTypes
    # A user, USER:GROUP or :GROUP for a file. Each part is a number, or a name that exists.
    class Owner < Text
      NUMBER = /\A\d*\z/

      # Checks that user and group exist. Raises Invalid.
      def check(text)
        find(*text.split(":"))
      rescue ArgumentError
        raise Invalid, "a user and a group that exist"
      end

      private

      def find(user, group = "")
        Etc.getpwnam(user) unless NUMBER.match?(user)
        Etc.getgrnam(group) unless NUMBER.match?(group)
      end
    end
  end
end
