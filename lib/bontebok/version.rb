# frozen_string_literal: true

module Bontebok
  VERSION = "0.1.0"
end
