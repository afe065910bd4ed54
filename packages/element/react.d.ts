import type { PixStateEvent, VintemPix } from '@vintem/element'
import type { DetailedHTMLProps, HTMLAttributes } from 'react'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'vintem-pix': DetailedHTMLProps<HTMLAttributes<VintemPix>, VintemPix> & {
        src: string
        onstate?: (event: PixStateEvent) => void
      }
    }
  }
}
