# frozen_string_literal: true

class PagesController < ApplicationController
  def show; end
end
